import type { SubLineCustomerInput } from './billing-inputs.ts'

/** What a customer is called on an invoice. */
export function customerName({ organization, individual, reference, id }: SubLineCustomerInput): string {
  const { first_name, infix, last_name } = individual?.name ?? {}
  const person = [first_name, infix, last_name].filter(part => !!part).join(' ')
  return organization?.legal_name || person || reference || id
}
