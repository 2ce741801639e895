// What an invoice document shows besides the invoice: the seller's branding, and how to pay.

/** A logo with the content of its file. */
export type Logo = { readonly type: 'image/png' | 'image/jpeg'; readonly content: Buffer }

/** Where to pay, from the BANK_ACCOUNT and CUSTOM_REDIRECT payment acceptors. */
export type PaymentInstruction =
  | {
      readonly kind: 'IBAN'
      readonly holder: string
      readonly iban: string
      readonly bic: string | null
      readonly bankName: string | null
    }
  | { readonly kind: 'LINK'; readonly url: string }

export type UnitName = { readonly singular: string; readonly plural: string }

export type Presentation = {
  /** `#rrggbb`; the titles and rules of the document. */
  readonly accentColor: string | null
  readonly logo: Logo | null
  readonly payment: readonly PaymentInstruction[]
  /** The unit of each product item, by its id. */
  readonly units: ReadonlyMap<string, UnitName>
}

/** A document without logo, colour, units and payment instructions. */
export const PLAIN: Presentation = { accentColor: null, logo: null, payment: [], units: new Map() }
