// Which customers a plan is offered to. Each rule is about the customer's country, and all must hold (semantics 3.1).
import { type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import Type, { type Static } from 'typebox'
import { AppError } from '../../../../../shared/errors.ts'
import { Country, Nullable, OneOf, Optional, Shape } from '../../../../resource/shapes.ts'

const RULES_MAX = 20
const COUNTRIES_MAX = 300

const SelectionRule = Shape(
  {
    type: OneOf('RESOURCE'),
    resource: Shape(
      {
        type: OneOf('CUSTOMER'),
        field: OneOf('COUNTRY'),
        comparator: OneOf('EQUALS', 'NOT_EQUALS', 'IN', 'NOT_IN', 'EMPTY', 'NOT_EMPTY'),
        value: Optional(Nullable(Country)),
        values: Optional(Nullable(Type.Array(Country, { minItems: 1, maxItems: COUNTRIES_MAX, uniqueItems: true }))),
      },
      { title: 'SelectionRuleResource' },
    ),
  },
  { title: 'SelectionRule' },
)
export const SelectionRules = Type.Array(SelectionRule, { maxItems: RULES_MAX })
export type SelectionRules = Static<typeof SelectionRules>

/** Which member each comparator compares with. */
const TAKES = {
  EQUALS: 'value',
  NOT_EQUALS: 'value',
  IN: 'values',
  NOT_IN: 'values',
  EMPTY: null,
  NOT_EMPTY: null,
} as const

/** Throws MISSING_FIELD or INVALID_FIELD for a rule whose comparator does not go with what it is given. */
export function checkSelectionRules(rules: SelectionRules): void {
  for (const [index, { resource }] of rules.entries()) {
    const at = `pricing_plan_selection_rules.${index}.resource`
    const wanted = TAKES[resource.comparator]
    for (const name of ['value', 'values'] as const) {
      const given = (resource[name] ?? null) !== null
      if (given === (name === wanted)) continue
      throw given
        ? new AppError('INVALID_FIELD', `${resource.comparator} does not take ${name}; leave it out.`, {
            field: `${at}.${name}`,
          })
        : new AppError('MISSING_FIELD', `${resource.comparator} compares with ${name}; give it.`, {
            field: `${at}.${name}`,
          })
    }
  }
}

/** Whether all rules hold of a customer in this country; null: in none that is known. */
export const admits = (rules: SelectionRules, country: string | null): boolean =>
  rules.every(({ resource }) => HOLDS[resource.comparator](resource, country))

type Resource = SelectionRules[number]['resource']
const HOLDS: Readonly<Record<Resource['comparator'], (rule: Resource, country: string | null) => boolean>> = {
  EQUALS: ({ value }, country) => country === value,
  NOT_EQUALS: ({ value }, country) => country !== value,
  IN: ({ values }, country) => country !== null && values?.includes(country) === true,
  NOT_IN: ({ values }, country) => country === null || values?.includes(country) !== true,
  EMPTY: (_rule, country) => country === null,
  NOT_EMPTY: (_rule, country) => country !== null,
}

/** The same in SQL, of rules in a column; an empty text is no country. */
export const admitting =
  (rules: PgColumn) =>
  (country: string): SQL =>
    sql`not exists (
  select from jsonb_array_elements(${rules}) as rule
  cross join lateral (select rule -> 'resource' as it) as named
  where not case it ->> 'comparator'
    when 'EQUALS' then it ->> 'value' = ${country}::text
    when 'NOT_EQUALS' then it ->> 'value' <> ${country}::text
    when 'IN' then it -> 'values' ? ${country}::text
    when 'NOT_IN' then not (it -> 'values' ? ${country}::text)
    when 'EMPTY' then ${country}::text = ''
    else ${country}::text <> ''
  end)`
