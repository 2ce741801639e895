// An invoice document before it is drawn: every text in the reader's language, in display order. The PDF and the HTML
// page draw the same model.
import type { Logo } from './presentation.ts'

export type Block = { readonly head: string; readonly name: string; readonly lines: readonly string[] }
export type Fact = { readonly label: string; readonly value: string }

export type Row = {
  /** A line of the invoice, one of its bands, or a discount. */
  readonly kind: 'LINE' | 'BAND' | 'DISCOUNT'
  readonly text: string
  /** The explanation of the amount, below the text. */
  readonly notes: readonly string[]
  readonly quantity: string
  readonly price: string
  readonly amount: string
}

/** Lines of one price for one time. */
export type Section = { readonly title: string; readonly period: string; readonly rows: readonly Row[] }

export type TaxRow = {
  readonly name: string
  readonly rate: string
  readonly taxable: string
  readonly amount: string
  readonly notes: readonly string[]
}

export type BankAccount = { readonly facts: readonly Fact[]; readonly qr: string | null }

export type DocumentModel = {
  readonly locale: string
  readonly title: string
  readonly heading: string
  readonly number: string | null
  readonly stamp: { readonly kind: 'DRAFT' | 'PAID' | 'VOID'; readonly text: string } | null
  readonly accentColor: string
  readonly logo: Logo | null
  readonly pageSize: 'A4' | 'LETTER'
  /** The name beside the logo: who issues the document. */
  readonly issuer: string
  readonly seller: Block
  readonly buyer: Block
  readonly facts: readonly Fact[]
  readonly due: Fact | null
  readonly columns: readonly [string, string, string, string]
  readonly sections: readonly Section[]
  readonly nothingCharged: string
  readonly totals: readonly (Fact & { readonly strong: boolean })[]
  readonly taxHead: { readonly title: string; readonly columns: readonly [string, string, string, string] }
  readonly taxes: readonly TaxRow[]
  readonly payment: {
    readonly title: string
    readonly accounts: readonly BankAccount[]
    readonly links: readonly Fact[]
  }
  readonly scanToPay: string
  readonly notes: readonly string[]
  readonly continued: string
  readonly pageOf: (page: number, pages: number) => string
  /** The time of the document, not of the rendering: the same invoice gives the same file. */
  readonly createdAt: Date
}
