// Which rules a policy may have, and the form in which they are stored: each with the part that its type needs, and no other.
import { and } from 'drizzle-orm'
import type { Uow } from '../../../../shared/database/database.ts'
import { anyOf } from '../../../../shared/database/statements/any-of.ts'
import { decimal, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idsOf } from '../../../../shared/ids.ts'
import { canonicalValue } from '../../../resource/custom-fields/canonical-value.ts'
import { type CustomField, customFields } from '../../../resource/custom-fields/table.ts'
import { inThisTenant } from '../../../resource/tenant-condition.ts'
import type { Rule, RuleGroups } from '../schema.ts'
import type { ApprovalPolicy } from '../table.ts'
import { checkSource } from './check-source.ts'

const refuse = (field: string, message: string): AppError => new AppError('INVALID_FIELD', message, { field })
const missing = (field: string, message: string): AppError => new AppError('MISSING_FIELD', message, { field })

/** The part of a rule that its type needs. */
const PART = {
  ALWAYS_APPROVE: null,
  DISCOUNT: 'discount',
  COMMITMENT: 'commitment',
  PRICING: 'pricing',
  CUSTOM_FIELD: 'custom_field',
  BILLING_ENTITY: 'billing_entity',
  BILLING_PERIOD: 'billing_period',
  DUE_DATE: 'due_date',
  PAYMENT_ACCEPTOR: 'payment_acceptor',
} as const
const PARTS = Object.values(PART).filter(part => part !== null)

/** The types that compare amounts or percentages. */
const ORDERED: ReadonlySet<Rule['type']> = new Set(['DISCOUNT', 'COMMITMENT'])

/** The rules of the row as they are stored. Throws INVALID_FIELD, MISSING_FIELD or RESOURCE_NOT_FOUND with the path. */
export async function canonicalRules(
  uow: Uow,
  { source_type, rule_groups }: Pick<ApprovalPolicy, 'source_type' | 'rule_groups'>,
): Promise<RuleGroups> {
  const fields = await fieldsOf(uow, rule_groups)
  const { withCustomFields } = checkSource(uow, source_type)
  return rule_groups.map(({ rules }, group) => ({
    rules: rules.map((rule, place) => {
      const path = `rule_groups.${group}.rules.${place}`
      checkParts(rule, path)
      checkComparator(rule, path)
      checkAmounts(rule, path)
      return rule.type === 'CUSTOM_FIELD' ? ofField(rule, path, { fields, withCustomFields }) : rule
    }),
  }))
}

function checkParts(rule: Rule, path: string): void {
  const own = PART[rule.type]
  const other = PARTS.find(part => part !== own && rule[part] !== null && rule[part] !== undefined)
  if (other !== undefined) {
    const advice = own === null ? 'give it no part' : `give ${own} alone`
    throw refuse(`${path}.${other}`, `A rule of type ${rule.type} has no ${other}; ${advice}.`)
  }
  if (own !== null && (rule[own] === null || rule[own] === undefined))
    throw missing(`${path}.${own}`, `A rule of type ${rule.type} needs ${own}.`)
}

function checkComparator({ type, comparator }: Rule, path: string): void {
  const field = `${path}.comparator`
  const isGiven = comparator !== null && comparator !== undefined
  if (type === 'ALWAYS_APPROVE' && isGiven) throw refuse(field, 'ALWAYS_APPROVE compares nothing; leave it out.')
  if (ORDERED.has(type) && !isGiven) throw missing(field, `A rule of type ${type} says how it compares.`)
  if (ORDERED.has(type) || type === 'CUSTOM_FIELD' || !isGiven || comparator === 'EQUALS') return
  throw refuse(field, `A rule of type ${type} is met or not; use EQUALS, or leave it out.`)
}

function checkAmounts({ discount, commitment }: Rule, path: string): void {
  const { percentage = null, amount = null } = discount ?? {}
  if (discount && (percentage === null) === (amount === null))
    throw refuse(`${path}.discount`, 'Give exactly one of percentage and amount.')
  if (percentage !== null && decimal(percentage).lt(ZERO))
    throw refuse(`${path}.discount.percentage`, 'A percentage is 0 or more; "10" is ten percent.')
  if (amount && decimal(amount.quantity).lt(ZERO))
    throw refuse(`${path}.discount.amount.quantity`, 'An amount is 0 or more.')
  if (commitment && decimal(commitment.amount.quantity).lt(ZERO))
    throw refuse(`${path}.commitment.amount.quantity`, 'An amount is 0 or more.')
}

/** The custom fields that the rules name, locked against deletion until commit. */
async function fieldsOf(uow: Uow, groups: RuleGroups): Promise<ReadonlyMap<string, CustomField>> {
  const ids = groups.flatMap(({ rules }) => rules.flatMap(({ custom_field }) => custom_field?.id ?? []))
  if (ids.length === 0) return new Map()
  const f = customFields
  const where = and(inThisTenant(uow, f), anyOf(f.id, idsOf('cufi', new Set(ids))))
  return new Map((await uow.tx.select().from(f).where(where).for('key share')).map(each => [each.id, each]))
}

type Known = {
  readonly fields: ReadonlyMap<string, CustomField>
  readonly withCustomFields: readonly string[]
}

function ofField(rule: Rule, path: string, { fields, withCustomFields }: Known): Rule {
  const { id = '', value = '' } = rule.custom_field ?? {}
  const at = `${path}.custom_field`
  const field = fields.get(id)
  if (!field)
    throw new AppError('RESOURCE_NOT_FOUND', `There is no CUSTOM_FIELD ${JSON.stringify(id)}.`, {
      field: `${at}.id`,
      resourceType: 'CUSTOM_FIELD',
    })
  if (!withCustomFields.includes(field.resource_type))
    throw refuse(`${at}.id`, `It is a field of ${field.resource_type}; name one of ${withCustomFields.join(' or ')}.`)
  if (field.type !== 'NUMBER' && (rule.comparator ?? 'EQUALS') !== 'EQUALS')
    throw refuse(`${path}.comparator`, `The field ${field.reference} is of type ${field.type}; use EQUALS.`)
  const reading = canonicalValue(field, value)
  if (reading.kind !== 'value') throw refuse(`${at}.value`, reading.message)
  return { ...rule, custom_field: { id, value: reading.value } }
}
