// A tax engine for the fault tests: answers GST and QST, and counts how often it was asked about each customer.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Client } from '../../../infra/demo/client.ts'

export type CountingEngine = {
  readonly url: string
  /** How often it was asked about this customer. */
  asked(customerId: string): number
  close(): void
}

/** Starts it on a free port of this machine. */
export async function startEngine(): Promise<CountingEngine> {
  const asked = new Map<string, number>()
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', piece => {
      text += piece
    })
    request.on('end', () => {
      const { id } = JSON.parse(text).question.buyer
      asked.set(id, (asked.get(id) ?? 0) + 1)
      const rates = [
        { name: 'GST', percentage: '5' },
        { name: 'QST', percentage: '9.975' },
      ]
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ treatment: 'TAXED', rates }))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/tax`,
    asked: id => asked.get(id) ?? 0,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** A DRAFT invoice of 200 CAD that waits for the engine. */
export async function waitingInvoice(client: Client, reference: string): Promise<{ id: string; customerId: string }> {
  const entity = await client.post('/v1/billing-entities', {
    ...{ reference, registered_address: { country: 'CA', state: 'ON' }, tax_settings: { provider: 'EXTERNAL' } },
  })
  const customer = await client.post('/v1/customers', {
    ...{ reference, type: 'ORGANIZATION', status: 'ACTIVE' },
    organization: { legal_name: reference, registered_address: { country: 'CA', state: 'QC' } },
  })
  const invoice = await client.post('/v1/invoices', {
    ...{ customer_id: customer.id, billing_entity_id: entity.id },
    lines: [
      {
        pricing_name: 'Workshop',
        pricing_type: 'FIXED',
        pricing_band: { amount: { quantity: '200', currency: 'EUR' } },
      },
    ],
  })
  return { id: String(invoice.id), customerId: String(customer.id) }
}
