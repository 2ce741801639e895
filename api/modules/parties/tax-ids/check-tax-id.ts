// Whether a tax id has the form that its country gives to such ids, check digits included. Says nothing of whether it exists.
import type { Validator } from 'stdnum/lib/cjs/types.js'
import type { TaxIdType, TaxIdValidation } from './schema.ts'

/** Loaded when a country is first met: few installations need more than some. */
type Load = () => Promise<Pick<Validator, 'validate'>>

/** Ids under which a company is registered for VAT or its like, by country. */
const GENERIC: Readonly<Record<string, Load>> = {
  AT: () => import('stdnum/lib/cjs/at/uid.js'),
  AU: () => import('stdnum/lib/cjs/au/abn.js'),
  BE: () => import('stdnum/lib/cjs/be/vat.js'),
  BG: () => import('stdnum/lib/cjs/bg/vat.js'),
  CA: () => import('stdnum/lib/cjs/ca/bn.js'),
  CH: () => import('stdnum/lib/cjs/ch/vat.js'),
  CY: () => import('stdnum/lib/cjs/cy/vat.js'),
  CZ: () => import('stdnum/lib/cjs/cz/dic.js'),
  DE: () => import('stdnum/lib/cjs/de/vat.js'),
  DK: () => import('stdnum/lib/cjs/dk/cvr.js'),
  EE: () => import('stdnum/lib/cjs/ee/kmkr.js'),
  ES: () => import('stdnum/lib/cjs/es/nif.js'),
  FI: () => import('stdnum/lib/cjs/fi/alv.js'),
  FR: () => import('stdnum/lib/cjs/fr/tva.js'),
  GB: () => import('stdnum/lib/cjs/gb/vat.js'),
  GR: () => import('stdnum/lib/cjs/gr/vat.js'),
  HR: () => import('stdnum/lib/cjs/hr/oib.js'),
  HU: () => import('stdnum/lib/cjs/hu/anum.js'),
  IE: () => import('stdnum/lib/cjs/ie/vat.js'),
  IT: () => import('stdnum/lib/cjs/it/iva.js'),
  LT: () => import('stdnum/lib/cjs/lt/pvm.js'),
  LU: () => import('stdnum/lib/cjs/lu/tva.js'),
  LV: () => import('stdnum/lib/cjs/lv/pvn.js'),
  MT: () => import('stdnum/lib/cjs/mt/vat.js'),
  NL: () => import('stdnum/lib/cjs/nl/btw.js'),
  NO: () => import('stdnum/lib/cjs/no/mva.js'),
  PL: () => import('stdnum/lib/cjs/pl/nip.js'),
  PT: () => import('stdnum/lib/cjs/pt/nif.js'),
  RO: () => import('stdnum/lib/cjs/ro/cif.js'),
  SE: () => import('stdnum/lib/cjs/se/vat.js'),
  SI: () => import('stdnum/lib/cjs/si/ddv.js'),
  SK: () => import('stdnum/lib/cjs/sk/dph.js'),
}

/** Types of one country. Manitoba and Saskatchewan publish no check digits, and CA_PST is of any province. */
const TYPED: Readonly<Partial<Record<TaxIdType, Load>>> = {
  AU_GST: () => import('stdnum/lib/cjs/au/abn.js'),
  CA_GST_HST: () => import('stdnum/lib/cjs/ca/gst.js'),
  CA_PST_BC: () => import('stdnum/lib/cjs/ca/pst.js'),
  CA_QST: () => import('stdnum/lib/cjs/ca/qst.js'),
}

/** What of a tax id is checked, in the country of the party that has it; null when its address names none. */
export type TaxIdToCheck = { readonly id: string; readonly type: TaxIdType; readonly country: string | null }

/** What the form of a tax id says. VALID is never given: only the authority knows which ids exist. */
export type FormVerdict = Pick<TaxIdValidation, 'valid' | 'message'>

const PROBLEMS: Readonly<Record<string, string>> = {
  InvalidLength: 'it has the wrong length',
  InvalidChecksum: 'its check digits are wrong',
}

/** Checks the form of a tax id (semantics 5.5): NOT_VALID, or UNKNOWN because no authority was asked or no rule is known. */
export async function checkTaxId({ id, type, country }: TaxIdToCheck): Promise<FormVerdict> {
  const text = id
    .toUpperCase()
    .replace(/[\s.\-/]/g, '')
    .replace(/^XI(?=\d)/, 'GB') // Northern Ireland, whose numbers are those of Great Britain
  const generic = type === 'GENERIC_TAX_ID'
  const own = generic ? ruleOf(country) : TYPED[type]
  const problem = own ? await problemOf(own, text) : null
  if (own && problem === null) return RIGHT_FORM
  // A company may be registered in another country than that of its address; then the id starts with that country.
  const abroad = generic ? ruleOf(text.startsWith('EL') ? 'GR' : text.slice(0, 2)) : undefined
  if (abroad && (await problemOf(abroad, text)) === null) return RIGHT_FORM
  const kind = generic ? `tax ids of ${country ?? 'a party without a country'}` : `ids of type ${type}`
  if (problem === null) return { valid: 'UNKNOWN', message: `No rule is known for ${kind}, so nothing was checked.` }
  return { valid: 'NOT_VALID', message: `${JSON.stringify(id)} is not of the form of ${kind}: ${problem}.` }
}

const RIGHT_FORM: FormVerdict = {
  valid: 'UNKNOWN',
  message: 'The form is right; no authority was asked whether the id exists.',
}

/** Whether the text, without spaces, is of the form of the tax ids of a country. */
export async function isOfForm(country: string, text: string): Promise<boolean> {
  const rule = ruleOf(country)
  return rule !== undefined && (await problemOf(rule, text)) === null
}

const ruleOf = (country: string | null): Load | undefined =>
  country !== null && Object.hasOwn(GENERIC, country) ? GENERIC[country] : undefined

/** What is wrong with the form; null when nothing is. */
async function problemOf(load: Load, text: string): Promise<string | null> {
  const { validate } = await load()
  try {
    const result = validate(text)
    return result.isValid ? null : (PROBLEMS[result.error.name] ?? WRONG_FORM)
  } catch {
    // Such as a country without anything behind it.
    return WRONG_FORM
  }
}
const WRONG_FORM = 'its form is wrong'
