// Wallet types: what the wallets of a platform hold, and how what they pay is taxed (contract: Wallet rules 1 and 3;
// semantics 6).
import { isDeepStrictEqual } from 'node:util'
import { and, eq } from 'drizzle-orm'
import type { Uow } from '../../../shared/database/database.ts'
import { AppError } from '../../../shared/errors.ts'
import { defineResource, field, PAUSABLE_RULES, type Resource } from '../../resource/define-resource.ts'
import { Name, OneOf, PausableStatus, Reference } from '../../resource/shapes.ts'
import { requireAll } from '../../resource/store.ts'
import { inThisTenant } from '../../resource/tenant-condition.ts'
import { creditTypeResource } from '../catalog/credit-types/credit-type.ts'

import { BalanceTerms, CreditTerms } from './schema.ts'
import { type WalletType, walletGrants, wallets, walletTypes } from './table.ts'

export const walletTypeResource: Resource<WalletType> = defineResource<WalletType>({
  objectType: 'WALLET_TYPE',
  shapeName: 'WalletType',
  idPrefix: 'wtyp',
  path: 'wallet-types',
  table: walletTypes,
  fields: {
    reference: field(Reference, { create: 'required', change: 'draft' }),
    name: field(Name, { create: 'required' }),
    status: field(PausableStatus),
    type: field(OneOf('CREDIT', 'BALANCE'), { create: 'required', change: 'never' }),
    credit: field(CreditTerms),
    balance: field(BalanceTerms),
  },
  operations: ['create', 'list', 'get', 'update', 'activate', 'deactivate', 'deprecate', 'archive'],
  byReference: true,
  statuses: PAUSABLE_RULES,
  orderBy: ['reference', 'name'],
  prepare: row => ({ ...row, ...canonicalTerms(row) }),
  check: async (uow, row, previous) => {
    checkTerms(row)
    await checkCreditType(uow, row)
    if (previous) await keepTermsOfGrants(uow, row, previous)
  },
  fixture: {
    create: async seed => ({
      reference: seed.unique('prepaid'),
      name: 'Prepaid money',
      status: 'ACTIVE',
      type: 'CREDIT',
      credit: { grant_type: 'AMOUNT', amount_grant: { default_currency: 'EUR', tax_category: 'STANDARD' } },
    }),
    update: { name: 'Prepaid' },
  },
})

/** Every omitted member as null; a money wallet pays STANDARD lines by default. */
function canonicalTerms({ type, credit, balance }: WalletType): Pick<WalletType, 'credit' | 'balance'> {
  return {
    credit: credit && {
      grant_type: credit.grant_type,
      amount_grant:
        credit.grant_type === 'AMOUNT' || credit.amount_grant
          ? {
              default_currency: credit.amount_grant?.default_currency ?? null,
              tax_category: credit.amount_grant?.tax_category ?? 'STANDARD',
            }
          : null,
      credits_grant: credit.credits_grant ?? null,
    },
    balance: balance || type === 'BALANCE' ? { default_currency: balance?.default_currency ?? null } : null,
  }
}

const refuse = (field: string, message: string): never => {
  throw new AppError('INVALID_FIELD', message, { field })
}
const missing = (field: string, message: string) => new AppError('MISSING_FIELD', message, { field })

function checkTerms({ type, credit, balance }: WalletType): void {
  if (type === 'BALANCE') {
    if (credit) refuse('credit', 'A wallet type BALANCE has no credit; leave it out.')
    return
  }
  if (balance) refuse('balance', 'A wallet type CREDIT has no balance; leave it out.')
  if (!credit) throw missing('credit', 'A wallet type CREDIT needs credit: what is granted, CREDITS or an AMOUNT.')
  if (credit.grant_type === 'AMOUNT' && credit.credits_grant)
    refuse('credit.credits_grant', 'A wallet type that is granted an AMOUNT has no credits_grant; leave it out.')
  if (credit.grant_type === 'CREDITS' && credit.amount_grant)
    refuse('credit.amount_grant', 'A wallet type that is granted CREDITS has no amount_grant; leave it out.')
  if (credit.grant_type === 'CREDITS' && !credit.credits_grant)
    throw missing('credit.credits_grant', 'A wallet type that is granted CREDITS needs credits_grant.credit_type_id.')
}

async function checkCreditType(uow: Uow, { credit }: WalletType): Promise<void> {
  const id = credit?.credits_grant?.credit_type_id
  if (id === undefined) return
  const field = 'credit.credits_grant.credit_type_id'
  const [found] = await requireAll(uow, creditTypeResource, [{ id, field }])
  if (found?.status === 'ARCHIVED') refuse(field, 'The credit type is ARCHIVED; choose another.')
}

/**
 * Throws INVALID_FIELD for a change that would alter what was already granted. A currency may be set while there is
 * none.
 */
async function keepTermsOfGrants(uow: Uow, row: WalletType, previous: WalletType): Promise<void> {
  const field = row.type === 'CREDIT' ? 'credit' : 'balance'
  if (isDeepStrictEqual(row[field], previous[field])) return
  const [granted] = await uow.tx
    .select({ id: walletGrants.id })
    .from(walletGrants)
    .innerJoin(wallets, and(inThisTenant(uow, wallets), eq(wallets.id, walletGrants.wallet_id)))
    .where(and(inThisTenant(uow, walletGrants), eq(wallets.wallet_type_id, row.id)))
    .limit(1)
  if (!granted) return
  refuse(field, `${field} cannot change: the grant ${granted.id} uses it. Create another wallet type.`)
}
