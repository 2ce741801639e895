// Creates a grant in a wallet by an API call (contract: Wallet rules 3; semantics 6, Manual grant).
import type { Static } from 'typebox'
import type { Uow } from '../../../../shared/database/database.ts'
import { decimal, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { idOf } from '../../../../shared/ids.ts'
import { at, formatInstant } from '../../../../shared/time.ts'
import { Amount, Description, IdText, Nullable, OneOf, Optional, Shape, Timestamp } from '../../../resource/shapes.ts'
import { requireAll } from '../../../resource/store.ts'
import { Credits } from '../../catalog/credit-types/schema.ts'
import { billingEntityResource } from '../../parties/billing-entities/billing-entity.ts'
import { customerResource } from '../../parties/customers/resource.ts'
import type { Wallet, WalletGrant, WalletType } from '../table.ts'
import { unitOf, type WalletUnit } from '../unit.ts'
import { walletResource } from '../wallet.ts'
import { walletTypeResource } from '../wallet-type.ts'
import { saveGrant } from './save-grant.ts'

export const GrantBody = Shape({
  customer_id: IdText('customer'),
  billing_entity_id: IdText('billing entity'),
  wallet_id: IdText('wallet'),
  type: Optional(Nullable(OneOf('DEFAULT', 'PROMOTION'))),
  description: Optional(Nullable(Description)),
  grant_amount: Optional(Nullable(Amount)),
  grant_credits: Optional(Nullable(Credits)),
  paid_amount: Optional(Nullable(Amount)),
  start_at: Optional(Nullable(Timestamp)),
  expire_at: Optional(Nullable(Timestamp)),
})
type GrantBody = Static<typeof GrantBody>

const refuse = (field: string, message: string): never => {
  throw new AppError('INVALID_FIELD', message, { field })
}

/**
 * Grants money or credits. It starts now unless the body says otherwise, and never expires without `expire_at`. Throws
 * RESOURCE_NOT_FOUND, MISSING_FIELD, INVALID_FIELD or INVALID_OPERATION with the field.
 */
export async function createGrant(uow: Uow, body: GrantBody): Promise<WalletGrant> {
  const { customer_id, billing_entity_id, wallet_id } = body
  const [wallet] = await requireAll(uow, walletResource, [{ id: wallet_id, field: 'wallet_id' }])
  await requireAll(uow, customerResource, [{ id: customer_id, field: 'customer_id' }])
  await requireAll(uow, billingEntityResource, [{ id: billing_entity_id, field: 'billing_entity_id' }])
  if (!wallet) throw new Error('what requireAll accepts is there')
  if (wallet.customer_id !== customer_id)
    refuse('customer_id', `The wallet is of the customer ${wallet.customer_id}; name that one, or another wallet.`)
  // Held, so that what the wallet holds is not changed before the grant is there: the type looks for grants then.
  const [type] = await requireAll(uow, walletTypeResource, [{ id: wallet.wallet_type_id, field: 'wallet_id' }])
  if (!type) throw new Error('what requireAll accepts is there')
  checkWallet(wallet, type)
  checkQuantity(unitOf(type), body)
  if (body.paid_amount && decimal(body.paid_amount.quantity).lt(ZERO))
    refuse('paid_amount.quantity', 'The amount paid must be zero or more.')
  const start_at = body.start_at ?? formatInstant(uow.now)
  const expire_at = body.expire_at ?? null
  if (expire_at !== null && at(expire_at) <= at(start_at))
    refuse('expire_at', `A grant expires after it starts, which is at ${start_at}.`)
  const grant = {
    customer_id: wallet.customer_id,
    billing_entity_id: idOf('bill', billing_entity_id),
    wallet_id: wallet.id,
    type: body.type ?? 'DEFAULT',
    description: body.description ?? null,
    grant_amount: body.grant_amount ?? null,
    grant_credits: body.grant_credits ?? null,
    paid_amount: body.paid_amount ?? null,
    start_at,
    expire_at,
    source: 'MANUAL',
  }
  return await saveGrant(uow, grant, { type: 'REQUEST', id: uow.actor.requestId })
}

/** A wallet accepts grants while it is DRAFT, ACTIVE or INACTIVE. */
function checkWallet({ status }: Wallet, type: WalletType): void {
  const refused = (what: string, of: string) =>
    new AppError('INVALID_OPERATION', `The ${what} is ${of} and takes no new grants; activate it first.`, {
      field: 'wallet_id',
    })
  if (status === 'DEPRECATED' || status === 'ARCHIVED') throw refused('wallet', status)
  if (type.status === 'ARCHIVED') throw refused('wallet type', type.status)
}

/** Throws unless the body grants a positive quantity of what the wallet holds, and nothing else. */
function checkQuantity(unit: WalletUnit, body: GrantBody): void {
  const [own, other] =
    unit.kind === 'CREDITS'
      ? (['grant_credits', 'grant_amount'] as const)
      : (['grant_amount', 'grant_credits'] as const)
  const holds = unit.kind === 'CREDITS' ? 'credits' : 'money'
  if (body[other]) refuse(other, `The wallet holds ${holds}; give ${own} instead.`)
  if (unit.kind === 'AMOUNT' && unit.currency === null) {
    const message = 'The wallet type has no default_currency and takes no grants until one is set there.'
    throw new AppError('INVALID_OPERATION', message, { field: 'wallet_id' })
  }
  const given = body[own]
  if (!given)
    throw new AppError('MISSING_FIELD', `The wallet holds ${holds}; give the quantity in ${own}.`, { field: own })
  if (decimal(given.quantity).lte(ZERO)) refuse(`${own}.quantity`, 'A grant must be above zero.')
  if (unit.kind === 'AMOUNT' && body.grant_amount && body.grant_amount.currency !== unit.currency)
    refuse('grant_amount.currency', `The wallet holds ${unit.currency}; grant that.`)
  if (unit.kind === 'CREDITS' && body.grant_credits && body.grant_credits.credit_type_id !== unit.creditTypeId)
    refuse('grant_credits.credit_type_id', `The wallet holds credits of the type ${unit.creditTypeId}; grant those.`)
}
