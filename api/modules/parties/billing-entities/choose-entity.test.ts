import { expect, test } from 'vitest'
import { chosenEntity } from './choose-entity.ts'

const entity = (id: string, countries: string[] | null, currencies: string[] | null) => ({
  id,
  default_customer_country_selector: countries,
  default_billing_currency_selector: currencies,
})
const NL = entity('nl', ['NL', 'BE'], null)
const EURO = entity('euro', null, ['EUR'])
const NL_EURO = entity('nl-euro', ['NL'], ['EUR'])
const US = entity('us', ['US'], ['USD'])
const PLAIN = entity('plain', null, null)
const EMPTY = entity('empty', [], [])

test.each<[string, ReturnType<typeof entity>[], string | null, string, string | null]>([
  ['by country', [PLAIN, NL, US], 'BE', 'USD', 'nl'],
  ['by currency', [PLAIN, NL, EURO], 'DE', 'EUR', 'euro'],
  ['by both before one of them', [NL, EURO, NL_EURO], 'NL', 'EUR', 'nl-euro'],
  ['the first of equal ones', [NL, EURO], 'NL', 'EUR', 'nl'],
  ['not where one of two selectors names another', [US], 'US', 'EUR', null],
  ['not one without selectors', [PLAIN, EMPTY], 'NL', 'EUR', null],
  ['not by country where the customer has none', [NL], null, 'EUR', null],
  ['by currency where the customer has no country', [NL, EURO], null, 'EUR', 'euro'],
])('%s', (_title, entities, country, currency, expected) => {
  expect(chosenEntity(entities, { country, currency })?.id ?? null).toBe(expected)
})
