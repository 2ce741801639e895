import { expect, test } from 'vitest'
import { type Circumstances, isRevertedByCall, revertReason } from './revert-reason.ts'

const charge = {
  key: 'k',
  invoice_id: 'invo_1',
  schedule_id: 'ppsc_1',
  schedule_start_at: '2026-03-01T00:00:00Z',
  schedule_end_at: null,
  service_end_at: '2026-04-01T00:00:00Z',
  cancelled: false,
}
const schedule = { id: 'ppsc_1', pricing_plan_id: 'pric_1', start_at: '2026-03-01T00:00:00Z', end_at: null }
const ended = (type: string, start_at = '2026-03-11T00:00:00Z') => ({
  subscription: { status: 'ACTIVE', inactive_periods: [{ type, start_at }] },
})
const subscription = { status: 'ACTIVE', inactive_periods: [] }
const now: Circumstances = { subscription, isVoided: false, schedules: [schedule] }

test.each<[string, Partial<Circumstances>, object]>([
  ['SUBSCRIPTION_VOIDED', { subscription: { status: 'VOID', inactive_periods: [] }, isVoided: true }, {}],
  ['INVOICE_VOIDED', { isVoided: true, ...ended('CANCEL') }, {}],
  ['SUBSCRIPTION_UPGRADED', ended('UPGRADE'), {}],
  [
    'SUBSCRIPTION_UPGRADED',
    {
      schedules: [
        { ...schedule, end_at: '2026-03-11T00:00:00Z' },
        { id: 'ppsc_2', pricing_plan_id: 'pric_2', start_at: '2026-03-11T00:00:00Z', end_at: null },
      ],
    },
    {},
  ],
  [
    'SCHEDULE_DATES_CHANGED',
    {
      schedules: [
        { ...schedule, end_at: '2026-03-11T00:00:00Z' },
        { ...schedule, id: 'ppsc_2', start_at: '2026-03-11T00:00:00Z' },
      ],
    },
    {},
  ],
  ['SUBSCRIPTION_CANCELLED', ended('CANCEL'), {}],
  // It ends after the charge, which is then not why the charge is gone.
  ['SCHEDULE_DELETED', { ...ended('CANCEL', '2026-05-01T00:00:00Z'), schedules: [] }, {}],
  ['SUBSCRIPTION_CANCEL_UNDONE', {}, { charge: { ...charge, cancelled: true } }],
  // Another subscription takes its place instead: nothing is undone.
  [
    'SCHEDULE_DELETED',
    { ...ended('UPGRADE', '2026-05-01T00:00:00Z'), schedules: [] },
    { charge: { ...charge, cancelled: true } },
  ],
  ['SCHEDULE_DELETED', { schedules: [] }, {}],
  ['SCHEDULE_DATES_CHANGED', { schedules: [{ ...schedule, end_at: '2026-03-05T00:00:00Z' }] }, {}],
  [
    'SCHEDULE_DATES_CHANGED',
    { schedules: [{ ...schedule, start_at: '2026-04-01T00:00:00Z' }] },
    { source: 'PER_SEAT' },
  ],
  ['WALLET_GRANT_REVERTED', {}, { source: 'PER_SEAT' }],
  ['SCHEDULE_DATES_CHANGED', {}, {}],
])('%s', (reason, circumstances, grant) => {
  expect(revertReason({ source: 'CHARGE', charge, ...grant }, { ...now, ...circumstances })).toBe(reason)
})

test.each([
  ['by a call', true, 'WALLET_GRANT_REVERTED', charge],
  ['by hand, of a grant without a charge', true, 'WALLET_GRANT_REVERTED', null],
  ['because its seat was no longer assigned', false, 'WALLET_GRANT_REVERTED', { ...charge, gone: true as const }],
  ['with its invoice', false, 'INVOICE_VOIDED', charge],
  ['never', false, null, charge],
] as const)('reverted %s: stays reverted %s', (_how, stays, revert_reason, of) => {
  expect(isRevertedByCall({ revert_reason, charge: of })).toBe(stays)
})
