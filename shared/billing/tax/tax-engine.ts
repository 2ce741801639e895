// What a tax engine outside of this installation is asked, and what it may answer. Pure: the same answer gives the same tax, so
// invoices are priced, and verified years later, from the answers that are kept.
import { decimal, HUNDRED, sum, ZERO } from '../../decimal.ts'
import { fraction, WHOLE } from '../fraction.ts'
import { invoiceNotesOf, type TaxDecided, type TaxNote, type TaxTreatment, taxExemptOf, UNTAXED_NOTES } from './tax.ts'

export type EngineAddress = {
  readonly line1: string | null
  readonly line2: string | null
  readonly city: string | null
  readonly postal_code: string | null
  readonly state: string | null
  readonly country: string
}

export type EngineParty = {
  readonly id: string
  readonly reference: string | null
  readonly type: 'ORGANIZATION' | 'INDIVIDUAL'
  readonly address: EngineAddress
  readonly tax_ids: readonly { readonly type: string; readonly id: string }[]
}

/**
 * The tax on STANDARD items between two parties on a day. Everything that the answer may depend on is here, and nothing else: a
 * question is asked once. Its form is what FINAL invoices are verified with; change it only under a new `version`.
 */
export type EngineQuestion = {
  readonly version: 1
  /** The invoice date, a local day. */
  readonly date: string
  readonly billing_type: 'DEFAULT' | 'SELF_BILLING'
  readonly tax_category: 'STANDARD'
  readonly seller: EngineParty & {
    /** Countries of further tax registrations, with the tax ids of each. */
    readonly registrations: readonly { readonly country: string; readonly tax_ids: EngineParty['tax_ids'] }[]
  }
  readonly buyer: EngineParty & {
    readonly tax_exempt: boolean
    /** In per cent; null for a buyer that is not exempt in part. */
    readonly tax_exempt_percentage: string | null
  }
}

const TREATMENTS = ['TAXED', 'NOT_TAXED', 'REVERSE_CHARGE', 'EXPORT', 'EXEMPT'] as const
export type EngineTreatment = (typeof TREATMENTS)[number]

/** The answer of an engine, as plain JSON. Percentages are decimal text: "21" is 21 %. */
export type EngineAnswer = {
  readonly treatment: EngineTreatment
  /** One for each authority; only where the treatment is TAXED. */
  readonly rates: readonly { readonly name: string; readonly percentage: string }[]
  /** The part of the amounts that is taxed, in per cent; the rest is exempt. */
  readonly taxable_percentage: string
  /** A sentence for the invoice. */
  readonly note: string | null
  /** The country of the registration under which tax is charged, when it is not that of the seller's address. */
  readonly registration_country: string | null
  /** Who says so; shown where an invoice line is explained. */
  readonly source: string | null
}

/** What the engine said to one question, as of a local day. */
export type StoredTaxAnswer = {
  /** Of the question. */
  readonly key: string
  /** The day that it is about, and the day as of which it was given. */
  readonly on: string
  /** Null while there is no answer. */
  readonly as_of: string | null
  /** Null while there is none. */
  readonly answer: EngineAnswer | null
  /** Why the last attempt gave none; null when it did, and before the first one. */
  readonly fault: string | null
}

export type KeyedQuestion = { readonly key: string; readonly question: EngineQuestion }

/** A question of an invoice that has no answer, or one from before its day: that prices what is not FINAL yet. */
export type OpenQuestion = KeyedQuestion & {
  readonly as_of: string | null
  /** Why it was asked once more in vain; absent before that. */
  readonly fault?: string
}

/** An engine outside of this installation. Another one is one file that gives a value of this type. */
export type TaxEngine = {
  /** Shown as the source of the tax where an answer names none. */
  readonly name: string
  /**
   * Asks once. Throws NoTaxAnswer with a reason that a user may read. May take long: whoever asks has a deadline of its own, and
   * aborts `signal` then.
   */
  readonly ask: (question: EngineQuestion, context: EngineContext) => Promise<EngineAnswer>
}

export type EngineContext = {
  readonly platformId: string
  readonly environment: 'TEST' | 'LIVE'
  readonly signal: AbortSignal
}

/** The engine gave no answer that can be used. The message is for users. */
export class NoTaxAnswer extends Error {
  /** True where the engine is well and refuses this question: waiting heals nothing. */
  readonly isRefusal: boolean

  constructor(message: string, { isRefusal = false }: { readonly isRefusal?: boolean } = {}) {
    super(message)
    this.isRefusal = isRefusal
  }
}

const RATES_MAX = 20
const NAME_LENGTH_MAX = 100
const TEXT_LENGTH_MAX = 500

const wrong = (what: string): never => {
  throw new NoTaxAnswer(`The answer of the tax engine cannot be used: ${what}.`)
}

function percentage(value: unknown, where: string): string {
  const text =
    typeof value === 'string' && /^\d{1,3}(\.\d{1,12})?$/.test(value)
      ? value
      : wrong(`${where} is not a percentage as text, such as "21"`)
  return decimal(text).gt(HUNDRED) ? wrong(`${where} is over 100`) : text
}

function textOf(value: unknown, where: string, lengthMax: number): string {
  const isText =
    typeof value === 'string' && value.trim().length > 0 && value.length <= lengthMax && !/\p{Cc}/u.test(value)
  return isText ? value : wrong(`${where} is not a text of 1 to ${lengthMax} characters in one line`)
}

const given = (value: unknown): boolean => value !== undefined && value !== null
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function ratesOf(value: unknown, treatment: EngineTreatment): EngineAnswer['rates'] {
  const rates = given(value) ? value : []
  if (!Array.isArray(rates) || rates.length > RATES_MAX) return wrong(`rates is not a list of at most ${RATES_MAX}`)
  const read = rates.map((rate: unknown, place) =>
    isRecord(rate)
      ? {
          name: textOf(rate['name'], `rates.${place}.name`, NAME_LENGTH_MAX),
          percentage: percentage(rate['percentage'], `rates.${place}.percentage`),
        }
      : wrong(`rates.${place} is not an object`),
  )
  if (treatment === 'TAXED' && read.length === 0)
    wrong('it is TAXED and has no rates; for a rate of zero give it with "0"')
  if (treatment !== 'TAXED' && read.length > 0) wrong(`it is ${treatment} and has rates`)
  if (sum(read.map(rate => decimal(rate.percentage))).gt(HUNDRED)) wrong('its rates are over 100 together')
  return read
}

/** The answer in `json`, with what it left out. Members that are not known are ignored. Throws NoTaxAnswer for any other. */
export function readEngineAnswer(json: unknown): EngineAnswer {
  if (!isRecord(json)) return wrong('it is not a JSON object')
  const treatment =
    TREATMENTS.find(known => known === json['treatment']) ?? wrong(`treatment is none of ${TREATMENTS.join(', ')}`)
  const country = json['registration_country']
  if (given(country) && !(typeof country === 'string' && /^[A-Z]{2}$/.test(country)))
    wrong('registration_country is not a country code')
  return {
    treatment,
    rates: ratesOf(json['rates'], treatment),
    taxable_percentage: given(json['taxable_percentage'])
      ? percentage(json['taxable_percentage'], 'taxable_percentage')
      : '100',
    note: given(json['note']) ? textOf(json['note'], 'note', TEXT_LENGTH_MAX) : null,
    registration_country: given(country) ? String(country) : null,
    source: given(json['source']) ? textOf(json['source'], 'source', TEXT_LENGTH_MAX) : null,
  }
}

const RULINGS: Readonly<Record<EngineTreatment, { readonly as: TaxTreatment; readonly notes: readonly TaxNote[] }>> = {
  TAXED: { as: 'TAX_ENGINE', notes: [] },
  NOT_TAXED: { as: 'TAX_ENGINE', notes: UNTAXED_NOTES.NO_TAX },
  REVERSE_CHARGE: { as: 'REVERSE_CHARGE', notes: UNTAXED_NOTES.REVERSE_CHARGE },
  EXPORT: { as: 'EXPORT', notes: UNTAXED_NOTES.EXPORT },
  EXEMPT: { as: 'BUYER_EXEMPT', notes: UNTAXED_NOTES.EXEMPT },
}

/** The tax of an invoice by the answer to its question. `taxExemptNote`: why the customer is exempt, in its own words. */
export function decisionOfAnswer(
  answer: EngineAnswer,
  { seller, buyer, billing_type }: EngineQuestion,
  taxExemptNote: string | null = null,
): TaxDecided {
  const { as, notes: usual } = RULINGS[answer.treatment]
  const notes = as === 'BUYER_EXEMPT' && taxExemptNote !== null ? taxExemptOf(taxExemptNote) : usual
  const given = answer.rates.map(rate => ({ name: rate.name, percentage: decimal(rate.percentage) }))
  const charged = given.filter(rate => rate.percentage.gt(ZERO))
  // A supply that is taxed at zero keeps the rate that says so.
  const rates = charged.length === 0 ? given : charged
  const own: readonly TaxNote[] = answer.note === null ? [] : [{ code: 'TAX_ENGINE', text: answer.note }]
  const taxed = decimal(answer.taxable_percentage)
  return {
    kind: 'DECIDED',
    treatment: as,
    rates,
    sources: answer.source === null ? [] : [answer.source],
    taxableShare: charged.length === 0 || taxed.eq(HUNDRED) ? WHOLE : fraction(taxed, HUNDRED),
    notes: [...notes, ...own],
    invoiceNotes: invoiceNotesOf(billing_type, seller.address.country, buyer.address.country),
    usedRegistration: answer.registration_country,
  }
}
