// Promotion codes: what a customer types to redeem a coupon, with limits of its own (semantics 2). Case does not count.
import { and, eq, sql } from 'drizzle-orm'
import Type from 'typebox'
import type { Uow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import { looksLikeId } from '../../../shared/ids.ts'
import { defineResource, field, PAUSABLE_RULES } from '../../resource/define-resource.ts'
import { IdText, PausableStatus, Timestamp } from '../../resource/shapes.ts'
import { getOne, requireAll } from '../../resource/store.ts'
import { inThisTenant } from '../../resource/tenant-condition.ts'
import { customerResource } from '../parties/customers/resource.ts'
import { checkRedeemableTime } from './check-coupon.ts'
import { redemptionsOf } from './count-redemptions.ts'
import { couponResource } from './coupon.ts'
import { generateCode } from './generate-code.ts'
import { Code, CodeFormat, MaximumRedemptions, PromotionCodeLimitedTo, ShownPromotionCodeLimitedTo } from './schema.ts'
import { type PromotionCode, promotionCodes } from './table.ts'

const ANY_FORMAT = '##########'

export const promotionCodeResource = defineResource<PromotionCode>({
  objectType: 'PROMOTION_CODE',
  shapeName: 'PromotionCode',
  idPrefix: 'prco',
  path: 'promotion-codes',
  table: promotionCodes,
  fields: {
    coupon_id: field(IdText('coupon'), { create: 'required', change: 'never' }),
    code: field(Code, { change: 'never' }),
    code_format: field(CodeFormat, { change: 'never' }),
    status: field(PausableStatus),
    limited_to: field(PromotionCodeLimitedTo, { change: 'never' }),
    start_at: field(Timestamp, { change: 'never' }),
    end_at: field(Timestamp, { change: 'never' }),
    maximum_redemptions: field(MaximumRedemptions, { change: 'never' }),
  },
  operations: ['create', 'list', 'get', 'activate', 'deactivate', 'deprecate', 'archive'],
  byReference: false,
  byCode: true,
  statuses: PAUSABLE_RULES,
  filters: {
    coupon_id: { kind: 'equals', column: 'coupon_id' },
    code: { kind: 'equalsIgnoringCase', column: 'code' },
  },
  expand: {
    coupon: { by: 'coupon_id', to: () => couponResource },
    customers: { by: 'customer_ids', to: () => customerResource, within: '**' },
  },
  references: { coupon_id: () => couponResource },
  resolve: async (uow, row, previous) => (previous ? row : { ...row, code: await codeOf(uow, row) }),
  check: async (uow, row, previous) => {
    checkRedeemableTime(row)
    if (previous) return
    await requireUsable(uow, row.coupon_id)
    const ids = row.limited_to?.customer_ids ?? []
    await requireAll(
      uow,
      customerResource,
      ids.map((id, index) => ({ id, field: `limited_to.customer_ids.${index}` })),
    )
  },
  computed: { number_of_redemptions: Type.Integer(), limited_to: ShownPromotionCodeLimitedTo },
  compute: redemptionsOf('promotion_code_id'),
  fixture: {
    create: async seed => ({
      coupon_id: (await seed.make(couponResource)).id,
      code_format: 'SPRING-######',
      status: 'ACTIVE',
      limited_to: { customer_ids: [(await seed.make(customerResource)).id] },
      maximum_redemptions: 10,
    }),
    update: null,
  },
})

const TRIES = 20

async function codeOf(uow: Uow, { code, code_format }: PromotionCode): Promise<string> {
  if (code && code_format)
    throw new AppError('INVALID_FIELD', 'A code is given or generated; send code or code_format, not both.', {
      field: 'code_format',
    })
  if (code && looksLikeId(code))
    throw new AppError('INVALID_FIELD', 'A code may not have the form of an id, since paths take both.', {
      field: 'code',
    })
  if (code) return code
  const format = code_format ?? ANY_FORMAT
  if (!format.includes('#'))
    throw new AppError('INVALID_FIELD', 'Each # becomes a random letter or digit; put at least one into the format.', {
      field: 'code_format',
    })
  for (let tried = 0; tried < TRIES; tried += 1) {
    const generated = generateCode(format)
    if (!(await findCode(uow, generated))) return generated
  }
  throw new AppError('INVALID_FIELD', 'Almost every code of this format is taken; use a longer one.', {
    field: 'code_format',
  })
}

/** The code as a customer typed it, whatever its case; null when there is none. */
export async function findCode(uow: Uow, code: string): Promise<PromotionCode | null> {
  const [row] = await uow.tx
    .select()
    .from(promotionCodes)
    .where(and(inThisTenant(uow, promotionCodes), eq(sql`upper(${promotionCodes.code})`, code.toUpperCase())))
  return row ?? null
}

async function requireUsable(uow: Uow, couponId: string): Promise<void> {
  const { status } = await getOne(uow, couponResource, couponId)
  if (status !== 'DEPRECATED' && status !== 'ARCHIVED') return
  throw new AppError('INVALID_FIELD', `The coupon is ${status} and takes no new codes.`, { field: 'coupon_id' })
}
