// What a wallet of a type holds: credits of one type, or money of one currency.
import type { WalletType } from './table.ts'

export type WalletUnit =
  | { readonly kind: 'CREDITS'; readonly creditTypeId: string }
  /**
   * `currency` is null until the wallet type has a default currency; it accepts no grants until then (contract: Wallet
   * rules 3).
   */
  | { readonly kind: 'AMOUNT'; readonly currency: string | null }

export function unitOf({ credit, balance }: Pick<WalletType, 'credit' | 'balance'>): WalletUnit {
  if (credit?.grant_type === 'CREDITS')
    return { kind: 'CREDITS', creditTypeId: credit.credits_grant?.credit_type_id ?? '' }
  return { kind: 'AMOUNT', currency: (credit?.amount_grant ?? balance)?.default_currency ?? null }
}

/** A quantity of the unit as sent on the wire; null for money while the type has no currency. */
export function balanceValue(unit: WalletUnit, quantity: string): object | null {
  if (unit.kind === 'CREDITS') return { credits: { quantity, credit_type_id: unit.creditTypeId } }
  return unit.currency === null ? null : { amount: { quantity, currency: unit.currency } }
}
