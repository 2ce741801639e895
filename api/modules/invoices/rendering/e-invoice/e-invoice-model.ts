// An e-invoice before it is written as XML: the terms of EN 16931 (BT-.. and BG-.. are its numbers) with exact amounts.
// UBL and Factur-X are written from the same model.
import type { LocalDate } from '../../../../../shared/billing/local-days.ts'
import type { Decimal } from '../../../../../shared/decimal.ts'

/** UNTDID 5305, the part that EN 16931 allows and that invoices of Millrace can have. */
export type VatCategory = 'S' | 'Z' | 'E' | 'AE' | 'G' | 'O'

/** The VAT of a line, an allowance or a charge. The rate is in per cent; null in category O, which has none. */
export type Vat = { readonly category: VatCategory; readonly rate: Decimal | null }

export type EInvoiceLine = {
  readonly name: string
  readonly note: string | null
  readonly quantity: Decimal
  /** BT-130: a code of UNECE Recommendation 20. */
  readonly unitCode: string
  readonly price: Decimal
  /** The number of units that the price is for. */
  readonly baseQuantity: Decimal
  readonly net: Decimal
  readonly vat: Vat
  readonly period: Days | null
}

/** An allowance (BG-20) or a charge (BG-21) on the invoice as a whole; the amount is never negative. */
export type Adjustment = {
  readonly kind: 'ALLOWANCE' | 'CHARGE'
  readonly reason: string
  readonly amount: Decimal
  readonly vat: Vat
}

/** One row of the VAT breakdown (BG-23). */
export type VatRow = {
  readonly vat: Vat
  readonly base: Decimal
  readonly tax: Decimal
  /** Why no VAT is charged, as text and as a code of the VATEX list; null where VAT is charged. */
  readonly reason: string | null
  readonly reasonCode: string | null
}

export type Days = { readonly first: LocalDate; readonly last: LocalDate }

export type EInvoiceParty = {
  readonly name: string
  /** BT-29, BT-46: how the seller refers to the party. */
  readonly reference: string | null
  readonly registrationNumber: string | null
  /** BT-31, BT-48: with the prefix of its country. */
  readonly vatId: string | null
  /** BT-32: a tax registration that is not a VAT id. */
  readonly taxRegistration: string | null
  /** BT-34, BT-49. */
  readonly electronicAddress: { readonly scheme: string; readonly id: string } | null
  readonly email: string | null
  readonly address: {
    readonly line1: string | null
    readonly line2: string | null
    readonly city: string | null
    readonly postalCode: string | null
    readonly state: string | null
    readonly country: string
  }
}

export type CreditTransfer = { readonly iban: string; readonly holder: string; readonly bic: string | null }

/** BG-22. */
export type EInvoiceTotals = {
  /** BT-106, BT-107, BT-108. */
  readonly lines: Decimal
  readonly allowances: Decimal
  readonly charges: Decimal
  /** BT-109, BT-110, BT-112. */
  readonly net: Decimal
  readonly tax: Decimal
  readonly gross: Decimal
  /** BT-113, BT-114, BT-115. */
  readonly prepaid: Decimal
  readonly payable: Decimal
}

export type EInvoice = {
  readonly kind: 'INVOICE' | 'CREDIT_NOTE'
  /** Whether the buyer issues it in the name of the seller. */
  readonly selfBilled: boolean
  readonly number: string
  readonly issueDate: LocalDate
  readonly dueDate: LocalDate | null
  readonly deliveryDate: LocalDate
  readonly currency: string
  /** BT-6 and BT-111: the total VAT in the currency of the tax authority; null where that is the currency of the invoice. */
  readonly taxInLocal: { readonly currency: string; readonly tax: Decimal } | null
  readonly notes: readonly string[]
  readonly orderReference: string | null
  readonly period: Days | null
  /** BG-3: the invoice that a credit note credits. */
  readonly preceding: { readonly number: string; readonly date: LocalDate | null } | null
  readonly seller: EInvoiceParty
  readonly buyer: EInvoiceParty
  readonly accounts: readonly CreditTransfer[]
  readonly paymentTerms: string | null
  readonly lines: readonly EInvoiceLine[]
  readonly adjustments: readonly Adjustment[]
  readonly vat: readonly VatRow[]
  readonly totals: EInvoiceTotals
}

/** Whether two amounts have the same VAT. */
export const sameVat = (a: Vat, b: Vat): boolean =>
  a.category === b.category && (a.rate === null ? b.rate === null : b.rate !== null && a.rate.eq(b.rate))
