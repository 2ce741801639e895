// Auto top-up configurations: what is bought for a wallet when its open balance falls below a threshold (semantics 6).
// They are never deleted; INACTIVE ends them.
import Type from 'typebox'
import { defineResource, field, type Resource, readOnly } from '../../../resource/define-resource.ts'
import { Amount, IdText, Nullable, OneOf, Optional, Shape, Timestamp } from '../../../resource/shapes.ts'
import { Credits } from '../../catalog/credit-types/schema.ts'
import { MeteredValue } from '../../catalog/pricing-plans/schema.ts'
import { scheduleResource } from '../../subscriptions/schedules/schedule.ts'
import { walletResource } from '../wallet.ts'
import { checkConfig, withThreshold } from './check-config.ts'
import { type AutoTopUpConfig, autoTopUpConfigs } from './table.ts'

const Status = OneOf('DRAFT', 'ACTIVE', 'INACTIVE')
const Threshold = Shape(
  { amount: Optional(Nullable(Amount)), credits: Optional(Nullable(Credits)) },
  { title: 'AutoTopUpThreshold' },
)

export const autoTopUpResource: Resource<AutoTopUpConfig> = defineResource<AutoTopUpConfig>({
  objectType: 'AUTO_TOP_UP_CONFIG',
  shapeName: 'AutoTopUpConfig',
  idPrefix: 'atuc',
  path: 'auto-top-up-configs',
  table: autoTopUpConfigs,
  fields: {
    status: field(Status),
    wallet_id: field(IdText('wallet'), { create: 'required', change: 'never' }),
    pricing_plan_schedule_id: field(IdText('pricing plan schedule'), { create: 'required' }),
    pricing_item_id: field(IdText('pricing item'), { create: 'required' }),
    threshold: field(Threshold, { create: 'required' }),
    topup_amount: field(Amount),
    units: field(MeteredValue),
    last_invoice_id: readOnly(Type.String()),
    failed_attempts: readOnly(Type.Integer()),
    last_failure: readOnly(Type.String()),
    next_attempt_at: readOnly(Timestamp),
  },
  operations: ['create', 'list', 'get', 'update', 'activate', 'deactivate'],
  byReference: false,
  // An ACTIVE one is tried when it is saved, and whether its schedule runs depends on the time.
  testClockOf: 'wallet_id',
  statuses: { ACTIVE: ['DRAFT', 'INACTIVE'], INACTIVE: ['DRAFT', 'ACTIVE'] },
  filters: {
    wallet_id: { kind: 'equals', column: 'wallet_id' },
    status: { kind: 'equals', column: 'status', schema: Status },
  },
  references: { wallet_id: () => walletResource, pricing_plan_schedule_id: () => scheduleResource },
  expand: { wallet: { by: 'wallet_id', to: () => walletResource } },
  defaults: () => ({ failed_attempts: 0 }),
  resolve: withThreshold,
  check: checkConfig,
  fixture: {
    create: async seed => ({
      wallet_id: (await seed.make(walletResource)).id,
      pricing_plan_schedule_id: (await seed.make(scheduleResource)).id,
      pricing_item_id: 'prii_1',
      threshold: { amount: { quantity: '10', currency: 'EUR' } },
    }),
    update: { threshold: { amount: { quantity: '20', currency: 'EUR' } } },
  },
})
