import { expect, test } from 'vitest'
import { AppError } from '../../../../../shared/errors.ts'
import { checkVolumeGroups, type GroupMember } from './check-volume-groups.ts'

const MEMBER: GroupMember = {
  group: 'tokens',
  metric: 'NUMBER',
  persist: false,
  billingPeriod: null,
  pricingPeriod: null,
  variant: { currency: null, billingPeriod: null },
  field: 'items.0.configs.0',
}
const faultOf = (...others: Partial<GroupMember>[]): string | undefined => {
  try {
    checkVolumeGroups([
      MEMBER,
      ...others.map((other, index) => ({ ...MEMBER, field: `items.${index + 1}.configs.0`, ...other })),
    ])
    return undefined
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return error.details.field
  }
}

const at = 'items.1.configs.0.volume_group_reference'
test.each<[string, Partial<GroupMember>, string | undefined]>([
  ['the same', {}, undefined],
  ['another group', { group: 'images', metric: 'AMOUNT' }, undefined],
  ['money', { metric: 'AMOUNT' }, at],
  ['usage that is carried on', { persist: true }, at],
  ['another billing period', { billingPeriod: { type: 'MONTH', value: 1 } }, at],
  ['another pricing period', { pricingPeriod: { type: 'DAY', value: 1 } }, at],
])('%s: %o', (_name, other, field) => {
  expect(faultOf(other)).toBe(field)
})
