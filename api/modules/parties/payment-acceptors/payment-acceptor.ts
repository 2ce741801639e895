// Payment acceptors: where a billing entity takes payments, as its documents say.
import { AppError } from '../../../../shared/errors.ts'
import { parseUrl } from '../../../../shared/parse-url.ts'
import { defineResource, field, LIFECYCLE_RULES } from '../../../resource/define-resource.ts'
import { Description, IdText, LifecycleStatus, Name, OneOf, Reference } from '../../../resource/shapes.ts'
import { billingEntityResource } from '../billing-entities/billing-entity.ts'
import { compactIban, isIban } from './iban.ts'
import { BankAccount, CustomRedirect } from './schema.ts'
import { type PaymentAcceptor, paymentAcceptors } from './table.ts'

const PARTS = { BANK_ACCOUNT: 'bank_account', CUSTOM_REDIRECT: 'custom_redirect' } as const

export const paymentAcceptorResource = defineResource<PaymentAcceptor>({
  objectType: 'PAYMENT_ACCEPTOR',
  shapeName: 'PaymentAcceptor',
  idPrefix: 'paya',
  path: 'payment-acceptors',
  table: paymentAcceptors,
  fields: {
    billing_entity_id: field(IdText('billing entity'), { create: 'required' }),
    reference: field(Reference, { create: 'required' }),
    name: field(Name),
    description: field(Description),
    type: field(OneOf('BANK_ACCOUNT', 'CUSTOM_REDIRECT'), { create: 'required', change: 'never' }),
    status: field(LifecycleStatus),
    bank_account: field(BankAccount),
    custom_redirect: field(CustomRedirect),
  },
  operations: ['create', 'list', 'get', 'update', 'delete'],
  byReference: true,
  references: { billing_entity_id: () => billingEntityResource },
  expand: { billing_entity: { by: 'billing_entity_id', to: () => billingEntityResource } },
  filters: {
    billing_entity_id: { kind: 'equals', column: 'billing_entity_id' },
    'statuses[]': { kind: 'oneOf', column: 'status', schema: LifecycleStatus },
  },
  statuses: LIFECYCLE_RULES,
  paged: false,
  orderBy: ['reference', 'name'],
  defaults: () => ({ status: 'ACTIVE' }),
  prepare: row => ({
    ...row,
    bank_account: row.bank_account ? { ...row.bank_account, iban: compactIban(row.bank_account.iban) } : null,
  }),
  check: (_uow, row) => {
    for (const [type, part] of Object.entries(PARTS)) {
      if (type === row.type && row[part] === null) {
        throw new AppError('MISSING_FIELD', `A ${type} acceptor needs ${part}.`, { field: part })
      }
      if (type !== row.type && row[part] !== null) {
        throw new AppError('INVALID_FIELD', `A ${row.type} acceptor takes no ${part}; leave it out.`, { field: part })
      }
    }
    if (row.bank_account && !isIban(row.bank_account.iban)) {
      throw new AppError('INVALID_FIELD', 'iban is no IBAN: its length or its check digits are wrong.', {
        field: 'bank_account.iban',
      })
    }
    if (row.custom_redirect && !isHttps(row.custom_redirect.url)) {
      throw new AppError('INVALID_FIELD', 'url must be an address that starts with https://, without a password.', {
        field: 'custom_redirect.url',
      })
    }
  },
  fixture: {
    create: async seed => ({
      billing_entity_id: (await seed.make(billingEntityResource))['id'],
      reference: seed.unique('acceptor'),
      type: 'BANK_ACCOUNT',
      bank_account: { type: 'IBAN', iban: 'NL91 ABNA 0417 1643 00', bic: 'ABNANL2A', bank_name: 'ABN AMRO' },
    }),
    update: { name: 'Main account' },
  },
})

function isHttps(text: string): boolean {
  const url = parseUrl(text)
  return url !== null && url.protocol === 'https:' && url.username === '' && url.password === ''
}
