// From the short text of a price, as the tables of worked cases have it, to the body of POST /v1/prices/calculate.
import { eur } from '../../../../testing/catalog.ts'

const money = (quantity: string, currency: string) => ({ ...eur(quantity), currency })
const MEMBERS: Readonly<Record<string, (value: string, currency: string, isMoney: boolean) => object>> = {
  at: (value, currency) => ({ amount: money(value, currency) }),
  fix: (value, currency) => ({ fixed_amount: money(value, currency) }),
  min: (value, currency) => ({ minimum_amount: money(value, currency) }),
  max: (value, currency) => ({ maximum_amount: money(value, currency) }),
  pct: percentage => ({ percentage }),
  block: number => ({ block_size: { number } }),
  to: (value, currency, isMoney) => ({
    tier_top_bound: isMoney ? { amount: money(value, currency) } : { number: value },
  }),
}

function settingOf(text: string): object {
  const [name = '', value = ''] = text.split('=')
  if (name === 'included') return { default_included_volume: { number: value } }
  if (name === 'included_money') return { default_included_volume: { amount: eur(value) } }
  return { [name]: value }
}

/** `FLAT block_rounding=UP at:5 block:10 | …`; a dash stands for no band. Throws for a member that has no name here. */
export function configOfForm(form: string, { isMoney = false, currency = 'EUR' } = {}): object {
  const [pricing_type = '', ...rest] = form.split(' ')
  const settings = rest.filter(word => word.includes('=')).map(settingOf)
  const words = rest.filter(word => !word.includes('=') && word !== '-').join(' ')
  const bands = words === '' ? [] : words.split(' | ').map(band => bandOf(band, { isMoney, currency }))
  return Object.assign({ pricing_type, bands }, ...settings)
}

function bandOf(text: string, { isMoney, currency }: { readonly isMoney: boolean; readonly currency: string }): object {
  const members = text.split(' ').map(word => {
    const [name = '', value = ''] = word.split(':')
    const member = MEMBERS[name]
    if (!member) throw new Error(`no member of a band is called ${name}`)
    return member(value, currency, isMoney)
  })
  return Object.assign({}, ...members)
}

/** `1000` of numbers, `1000/4` of money and its events. */
export function quantityOfForm(text: string): object {
  const [quantity = '', count] = text.split('/')
  return count === undefined ? { number: quantity } : { amount: eur(quantity), count }
}
