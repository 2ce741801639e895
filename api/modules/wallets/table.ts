import { pgTable, text } from 'drizzle-orm/pg-core'
import type { Account, EntryType } from '../../../shared/billing/wallets/ledger.ts'
import type { GrantType } from '../../../shared/billing/wallets/spending-order.ts'
import type { Id } from '../../../shared/ids.ts'
import { decimalText, tenantColumns, timestamp, wireJson } from '../../resource/columns.ts'
import type { PAUSABLE } from '../../resource/shapes.ts'
import type { CreditsView } from '../catalog/credit-types/schema.ts'
import type { ChargeOfGrant } from '../invoices/charge-grants.ts'
import type { BalanceTerms, CreditTerms, MoneyView, ReservationStatus, RevertReason } from './schema.ts'

export const walletTypes = pgTable('wallet_types', {
  ...tenantColumns<'wtyp'>(),
  reference: text().notNull(),
  name: text().notNull(),
  status: text().$type<(typeof PAUSABLE)[number]>().notNull(),
  type: text().$type<'CREDIT' | 'BALANCE'>().notNull(),
  credit: wireJson<CreditTerms>(),
  balance: wireJson<BalanceTerms>(),
})

export type WalletType = typeof walletTypes.$inferSelect

export const wallets = pgTable('wallets', {
  ...tenantColumns<'wall'>(),
  reference: text().notNull(),
  status: text().$type<(typeof PAUSABLE)[number]>().notNull(),
  wallet_type_id: text().$type<Id<'wtyp'>>().notNull(),
  customer_id: text().$type<Id<'cust'>>().notNull(),
})

export type Wallet = typeof wallets.$inferSelect

export const walletGrants = pgTable('wallet_grants', {
  ...tenantColumns<'wgra'>(),
  customer_id: text().$type<Id<'cust'>>().notNull(),
  billing_entity_id: text().$type<Id<'bill'>>().notNull(),
  wallet_id: text().$type<Id<'wall'>>().notNull(),
  type: text().$type<GrantType>().notNull(),
  description: text(),
  grant_amount: wireJson<MoneyView>(),
  grant_credits: wireJson<CreditsView>(),
  paid_amount: wireJson<MoneyView>(),
  start_at: timestamp().notNull(),
  expire_at: timestamp(),
  source: text().notNull(),
  reverted_at: timestamp(),
  revert_reason: text().$type<RevertReason>(),
  /** For a PER_SEAT grant: the customer who may spend it, and the item that the seat is for. */
  seat: wireJson<{ readonly customer_id: string; readonly product_item_id: string }>(),
  /** For a grant PER_SEAT beyond the paid seats: how much of it that is. */
  over_granted: wireJson<{ readonly credits: CreditsView }>(),
  /** For a grant by rule: the charge behind it. */
  charge: wireJson<ChargeOfGrant>(),
})

export type WalletGrant = typeof walletGrants.$inferSelect

const { updated_at: _never, ...ADDED } = tenantColumns()

/** What kind of cause an entry has; `cause_id` names the cause. */
export const CAUSE_TYPES = ['REQUEST', 'EXPIRY', 'RESERVATION', 'INVOICE', 'CHARGE', 'SEAT_ASSIGNMENT'] as const

export const walletEntries = pgTable('wallet_entries', {
  ...ADDED,
  wallet_id: text().$type<Id<'wall'>>().notNull(),
  grant_id: text().$type<Id<'wgra'>>().notNull(),
  type: text().$type<EntryType>().notNull(),
  debit_account: text().$type<Account>().notNull(),
  credit_account: text().$type<Account>().notNull(),
  quantity: decimalText().notNull(),
  effective_at: timestamp().notNull(),
  cause_type: text().$type<(typeof CAUSE_TYPES)[number]>().notNull(),
  cause_id: text(),
  reason: text(),
  actor_id: text(),
  request_id: text(),
})

const { platform_id, environment } = tenantColumns()

export const walletGrantAccounts = pgTable('wallet_grant_accounts', {
  platform_id,
  environment,
  grant_id: text().$type<Id<'wgra'>>().notNull(),
  wallet_id: text().$type<Id<'wall'>>().notNull(),
  type: text().$type<GrantType>().notNull(),
  start_at: timestamp().notNull(),
  expire_at: timestamp(),
  /** The customer whose use alone may spend it; null for all use. */
  seat_of: text(),
  funding: decimalText().notNull(),
  open: decimalText().notNull(),
  reserved: decimalText().notNull(),
  spent: decimalText().notNull(),
  expired: decimalText().notNull(),
  reverted: decimalText().notNull(),
})

export type WalletEntry = typeof walletEntries.$inferSelect
export type GrantAccounts = typeof walletGrantAccounts.$inferSelect

export const walletReservations = pgTable('wallet_reservations', {
  ...tenantColumns<'wres'>(),
  wallet_id: text().$type<Id<'wall'>>().notNull(),
  reference: text().notNull(),
  quantity: decimalText().notNull(),
  parts: wireJson<readonly { readonly grant_id: string; readonly quantity: string }[]>().notNull(),
  status: text().$type<ReservationStatus>().notNull(),
  lease_until: timestamp().notNull(),
  committed_quantity: decimalText(),
  event_reference: text(),
})

export type WalletReservation = typeof walletReservations.$inferSelect
