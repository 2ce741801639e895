// Which alert rules make sense: what is compared with what, and by what.
import type { Uow } from '../../../shared/database/database.ts'
import { decimal, ZERO } from '../../../shared/decimal.ts'
import { AppError } from '../../../shared/errors.ts'
import { requireAll } from '../../resource/store.ts'
import { featureResource } from '../catalog/features/feature.ts'
import type { Feature } from '../catalog/features/table.ts'
import type { RuleEntitlement, RuleInvoice } from './schema.ts'
import type { AlertRule } from './table.ts'

/** What is used is looked at from time to time, so it may pass over any single value: only orders can be watched. */
export const ENTITLEMENT_COMPARATORS = [
  'GREATER_THAN',
  'GREATER_THAN_OR_EQUALS',
  'LESS_THAN',
  'LESS_THAN_OR_EQUALS',
] as const
/** Being late only grows; late by less than something is every unpaid invoice, on the day after it was due. */
export const OVERDUE_COMPARATORS = ['GREATER_THAN', 'GREATER_THAN_OR_EQUALS'] as const

const PARTS = { ENTITLEMENT: 'entitlement', INVOICE: 'invoice' } as const

/** Throws MISSING_FIELD, INVALID_FIELD or RESOURCE_NOT_FOUND with the path of what is wrong (semantics 9.3). */
export async function checkRule(uow: Uow, row: AlertRule): Promise<void> {
  for (const [type, name] of Object.entries(PARTS)) {
    if (row[name] !== null && row.type !== type) refuse(name, `${name} belongs to type ${type}.`)
  }
  if (row[PARTS[row.type]] === null) {
    const field = PARTS[row.type]
    throw new AppError('MISSING_FIELD', `Type ${row.type} needs ${field}.`, { field })
  }
  if (row.invoice !== null) checkOverdue(row, row.invoice)
  if (row.entitlement !== null) await checkEntitlement(uow, row, row.entitlement)
}

const refuse = (field: string, message: string): never => {
  throw new AppError('INVALID_FIELD', message, { field })
}

function checkComparator(given: string, allowed: readonly string[], field: string): void {
  if (!allowed.includes(given)) refuse(field, `${given} cannot be watched here; use one of ${allowed.join(', ')}.`)
}

function checkOverdue({ trigger_type }: AlertRule, { overdue }: RuleInvoice): void {
  if (trigger_type !== 'STATIC') {
    const message = 'A DYNAMIC threshold is a share of what is granted; a rule of type INVOICE is STATIC.'
    refuse('trigger_type', message)
  }
  checkComparator(overdue.comparator, OVERDUE_COMPARATORS, 'invoice.overdue.comparator')
}

async function checkEntitlement(uow: Uow, row: AlertRule, rule: RuleEntitlement): Promise<void> {
  const { feature_id, comparator, threshold } = rule
  checkComparator(comparator, ENTITLEMENT_COMPARATORS, 'entitlement.comparator')
  const path = 'entitlement.threshold'
  const given = (['number', 'percentage', 'amount'] as const).filter(kind => threshold[kind] != null)
  if (given.length !== 1) refuse(path, 'Give exactly one of number, percentage and amount.')
  const [kind] = given
  if (row.trigger_type === 'DYNAMIC' && kind !== 'percentage')
    refuse(`${path}.${kind}`, 'A DYNAMIC threshold is a percentage of what is granted.')
  if (row.trigger_type === 'STATIC' && kind === 'percentage')
    refuse(`${path}.percentage`, 'A STATIC threshold is a number or an amount; a percentage makes the rule DYNAMIC.')
  if (threshold.percentage != null && decimal(threshold.percentage).lt(ZERO))
    refuse(`${path}.percentage`, 'A percentage is 0 or more.')
  const field = 'entitlement.feature_id'
  const [feature] = await requireAll(uow, featureResource, [{ id: feature_id, field }])
  if (feature) checkFeature(feature, kind, path)
}

function checkFeature(feature: Feature, kind: 'number' | 'percentage' | 'amount' | undefined, path: string): void {
  const { type, reference } = feature
  const field = 'entitlement.feature_id'
  if (type !== 'NUMBER' && type !== 'AMOUNT')
    refuse(field, `The feature ${reference} is of type ${type}; only use of a NUMBER or an AMOUNT can be watched.`)
  if (feature.meter_value_calculation_id === null) {
    const message = `The feature ${reference} has no meter_value_calculation_id that says what is used of it.`
    refuse(field, message)
  }
  const own = type === 'NUMBER' ? 'number' : 'amount'
  if (kind !== 'percentage' && kind !== own)
    refuse(`${path}.${kind}`, `The feature ${reference} is of type ${type}; give a threshold of kind ${own}.`)
}
