// A tax id as it is sent to VIES: the member state that gave it, and the number in it.
import { isOfForm, type TaxIdToCheck } from '../tax-ids/check-tax-id.ts'

export type ViesNumber = { readonly memberState: string; readonly number: string }

/** The member states of VIES by the codes of their tax ids: Greece has its own, and Northern Ireland is one. */
const MEMBER_STATES: ReadonlySet<string> = new Set(
  'AT BE BG CY CZ DE DK EE EL ES FI FR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK XI'.split(' '),
)
const codeOf = (country: string): string => (country === 'GR' ? 'EL' : country)
const countryOf = (code: string): string => (code === 'EL' ? 'GR' : code)

/** Null for an id that VIES does not know: of another type, or of a country outside of it. */
export async function viesNumber({ id, type, country }: TaxIdToCheck): Promise<ViesNumber | null> {
  if (type !== 'GENERIC_TAX_ID') return null
  const text = id.toUpperCase().replace(/[\s.\-/]/g, '')
  const own = country === null ? null : codeOf(country)
  const prefix = text.slice(0, 2)
  // An id may begin with the letters of another country, so that of its own country is tried first.
  if (own !== null && prefix !== own && MEMBER_STATES.has(own) && (await isOfForm(countryOf(own), text)))
    return { memberState: own, number: text }
  if (!MEMBER_STATES.has(prefix)) return null
  const number = text.slice(2)
  if (prefix === 'XI') return (await isOfForm('GB', number)) ? { memberState: prefix, number } : null
  return (await isOfForm(countryOf(prefix), text)) ? { memberState: prefix, number } : null
}
