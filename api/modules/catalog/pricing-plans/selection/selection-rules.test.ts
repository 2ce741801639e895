// Which customers the rules of a plan admit (semantics 3.1).
import { expect, test } from 'vitest'
import { admits, type SelectionRules } from './selection-rules.ts'

type Rule = SelectionRules[number]['resource']
const rule = (comparator: Rule['comparator'], over: Partial<Rule> = {}): SelectionRules[number] => ({
  type: 'RESOURCE',
  resource: { type: 'CUSTOMER', field: 'COUNTRY', comparator, ...over },
})

test.each<[string, SelectionRules, string[]]>([
  ['no rule', [], ['NL', 'DE', 'none']],
  ['a country', [rule('EQUALS', { value: 'NL' })], ['NL']],
  ['not a country', [rule('NOT_EQUALS', { value: 'NL' })], ['DE', 'none']],
  ['some countries', [rule('IN', { values: ['NL', 'DE'] })], ['NL', 'DE']],
  ['not some countries', [rule('NOT_IN', { values: ['NL'] })], ['DE', 'none']],
  ['a country that is known', [rule('NOT_EMPTY')], ['NL', 'DE']],
  ['no country', [rule('EMPTY')], ['none']],
  ['all rules hold', [rule('NOT_EMPTY'), rule('NOT_EQUALS', { value: 'DE' })], ['NL']],
])('%s', (_name, rules, admitted) => {
  expect(['NL', 'DE', 'none'].filter(country => admits(rules, country === 'none' ? null : country))).toEqual(admitted)
})
