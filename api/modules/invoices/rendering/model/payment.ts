// How to pay, as an invoice shows it: the account with its reference, a code that a banking app reads, and links.
import type { Fact } from './document-model.ts'
import type { PaymentInstruction } from './presentation.ts'

export type Payment = {
  /** What is still open, as plain decimal text. */
  readonly quantity: string
  readonly currency: string
  readonly reference: string
}

const NAME_MAX = 70
const REMITTANCE_MAX = 140
const AMOUNT_MAX = 999_999_999.99

/**
 * The text of an EPC QR code (EPC069-12, version 2) for a SEPA credit transfer; null for what the code cannot express:
 * an amount that is not in euros, not positive, or above 999,999,999.99.
 */
export function epcQrText(account: Extract<PaymentInstruction, { kind: 'IBAN' }>, payment: Payment): string | null {
  const size = Number(payment.quantity)
  if (payment.currency !== 'EUR' || !(size >= 0.01) || size > AMOUNT_MAX) return null
  const inOneLine = (text: string, max: number) => [...text.replace(/[\r\n]+/g, ' ')].slice(0, max).join('')
  return [
    'BCD',
    '002',
    '1',
    'SCT',
    account.bic ?? '',
    inOneLine(account.holder, NAME_MAX),
    account.iban,
    `EUR${payment.quantity}`,
    '',
    '',
    inOneLine(payment.reference, REMITTANCE_MAX),
  ].join('\n')
}

/** `NL91 ABNA 0417 1643 00`. */
export const spacedIban = (iban: string): string => iban.replace(/(.{4})(?=.)/g, '$1 ')

/** The rows of a bank account's table, in order. */
export function accountFacts(
  account: Extract<PaymentInstruction, { kind: 'IBAN' }>,
  labels: { readonly holder: string; readonly reference: string },
  reference: string,
): Fact[] {
  return [
    { label: labels.holder, value: account.holder },
    { label: 'IBAN', value: spacedIban(account.iban) },
    ...(account.bic ? [{ label: 'BIC', value: [account.bic, account.bankName].filter(Boolean).join(', ') }] : []),
    { label: labels.reference, value: reference },
  ]
}
