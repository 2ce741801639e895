// What a run issues of invoices that belong together, and which of them wait.
import { expect, test } from 'vitest'
import { ZERO } from '../../../../../shared/decimal.ts'
import { newId } from '../../../../../shared/ids.ts'
import { at } from '../../../../../shared/time.ts'
import { NO_PAYERS } from '../../../invoices/settlement/funds.ts'
import { priceInvoice } from '../../pricing/price-invoice.ts'
import type { BillingInputs } from '../../terms/billing-inputs.ts'
import type { Issue } from './issue.ts'
import { issueTogether } from './issue-together.ts'
import { inputsOf, requestOf } from './testing/combining.ts'

const of = {
  tenant: { platformId: newId('plat'), environment: 'TEST' as const },
  now: at('2026-04-02T00:00:00Z'),
  funds: { payers: () => NO_PAYERS, take: () => {}, balanceOf: () => ZERO },
}
/** Its invoice, as a DRAFT and as FINAL. */
function issueOf(inputs: BillingInputs, own_notes: string[] = []): Issue {
  const request = requestOf(inputs, { id: inputs.subscription.id })
  const { columns, lines } = priceInvoice(inputs, request)
  const ids = { id: `invoice ${inputs.subscription.id}`, customer_id: inputs.customer.id, billing_type: 'DEFAULT' }
  const row = { ...columns, ...ids, custom_fields: [], own_notes, usage_counted_until: null, inputs_hash: 'hash' }
  const pending = { row, stored: null, lines, notices: [] }
  return { inputs, request, draft: pending, final: pending } as unknown as Issue
}
const stepOf = (issue: Issue) => ({ inputs: issue.inputs, step: { issues: [issue], granted: false } })
/** The same, billed to another customer. */
const ofStranger = (inputs: BillingInputs): BillingInputs => ({
  ...inputs,
  customer: { ...inputs.customer, id: 'stranger' },
})

test('those that cannot be combined stay DRAFT, and keep no others waiting', () => {
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(id => inputsOf({ id })) as [BillingInputs, ...BillingInputs[]]
  const broken = { ...issueOf(a), request: { ...issueOf(a).request, terms: null } } as unknown as Issue
  const sound = [c, d].map(inputs => stepOf(issueOf(ofStranger(inputs as BillingInputs))))
  const { waiting, faults, invoices, parts } = issueTogether(
    [stepOf(broken), stepOf(issueOf(b as BillingInputs)), ...sound],
    of,
  )
  expect([...waiting]).toEqual(['invoice a', 'invoice b'])
  expect([...faults.values()]).toEqual([expect.any(TypeError), expect.any(TypeError)])
  expect([...faults.keys()]).toEqual(['a', 'b'])
  expect(parts.get('invoice b')?.row.combined_into_id).toBeUndefined()
  expect(invoices.map(({ pending }) => pending.row.content.combined_invoice_ids)).toEqual([['invoice c', 'invoice d']])
})

test('a note that several of them have is on the document once', () => {
  const all = [issueOf(inputsOf({ id: 'a' }), ['thanks', 'for a']), issueOf(inputsOf({ id: 'b' }), ['thanks'])]
  const { invoices } = issueTogether(all.map(stepOf), of)
  expect(invoices.map(({ pending }) => pending.row.own_notes)).toEqual([['thanks', 'for a']])
})

test('all wait for the next one where one has granted what invoices of it could not spend yet', () => {
  const [one, other] = [inputsOf({ id: 'a' }), inputsOf({ id: 'b' })]
  const stranger = ofStranger(one)
  const steps = [one, other, stranger].map(inputs => ({
    inputs,
    step: { issues: inputs === other ? [] : [issueOf(inputs)], granted: inputs === other },
  }))
  const { waiting, parts, invoices } = issueTogether(steps, of)
  expect([[...waiting], [...parts.keys()], invoices]).toEqual([['invoice a'], ['invoice a'], []])
})
