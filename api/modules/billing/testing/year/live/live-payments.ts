// What a random customer pays while the year runs, sent as requests: invoices in part, in full and beyond, payments that are reversed
// or paid back, marks, invoices made by hand that are credited or never issued, and a wallet. After each step all that the api shows
// is compared with the books of the slow model.
import { decimal, plain } from '../../../../../../shared/decimal.ts'
import { formatInstant, instantOf } from '../../../../../../shared/time.ts'
import { refusal, succeed } from '../../../../../testing/calls.ts'
import type { ApiHarness, TestTenant } from '../../../../../testing/harness.ts'
import type { Row } from '../../../../../testing/wire.ts'
import { chance, pick, type Random, randomOf, whole } from '../random.ts'
import type { SlowInvoice, SlowPayment } from '../slow-model/payments.ts'
import { DAY, YEAR_DAYS } from '../story.ts'
import type { Beside } from './live-year.ts'
import { type Books, centsOf, compared, emptyBooks, paymentFaults } from './payment-faults.ts'

export const euro = (cents: number) => ({ quantity: plain(decimal(`${cents}e-2`)), currency: 'EUR' })
const text = (moment: number): string => formatInstant(instantOf(moment))
const REFUSED = [400, 'INVALID_OPERATION']

export type PayingCustomer = { readonly customer: string; readonly entity: string; readonly begins: number }

export class LivePayments implements Beside {
  private readonly faults: string[] = []
  readonly moments: readonly number[]
  private readonly tenant: TestTenant
  private readonly random: Random
  private readonly of: PayingCustomer
  private readonly books: Books = emptyBooks()
  private wallet: Row | null = null
  constructor(tenant: TestTenant, seed: number, of: PayingCustomer) {
    this.tenant = tenant
    this.random = randomOf(seed + 8_000_009)
    this.of = of
    const moments: number[] = []
    for (let at = of.begins + 60_000; at < of.begins + YEAR_DAYS * DAY; at += whole(this.random, 15, 90) * DAY + 61_000)
      moments.push(at)
    this.moments = moments
  }

  /**
   * What happens at a moment between two changes of the story; `last`: the year is over, so that credits change nothing that is billed
   * later. Nothing happens any more once something differs.
   */
  async step(now: number, last: boolean): Promise<void> {
    const { random } = this
    await this.compare(now)
    if (chance(random, 0.25)) await this.grant(now)
    if (chance(random, 0.3)) await this.byHand()
    const acts = whole(random, 1, 3) + (last ? 6 : 0)
    for (let done = 0; done < acts && this.faults.length === 0; done += 1) await this.act(now, last)
    await this.compare(now)
  }

  firstPayment(): object | null {
    const { random } = this
    if (chance(random, 0.5)) return null
    const result = pick(random, ['AUTHORIZED', 'AUTHORIZED', 'PENDING', 'REFUSED', 'ERROR', 'CANCELLED'] as const)
    return { amount: euro(whole(random, 1, 3_000)), result }
  }

  firstPaid({ first_payment: paid, invoice }: Row): void {
    const { id, timestamp, result } = paid
    if (invoice)
      this.books.first.set(invoice.id, { id, cents: centsOf(paid.amount), at: Date.parse(timestamp), result })
  }

  /** What differs once the year is over. */
  async faultsAfter(sql: ApiHarness['sql']): Promise<string[]> {
    return this.faults.length > 0 ? this.faults : await paymentFaults(this.tenant, sql, this.books)
  }

  /** Gives the invoices as they are listed. */
  private async compare(now: number): Promise<readonly Row[]> {
    const invoices = await this.invoices()
    const { tenant, books, wallet } = this
    if (this.faults.length === 0) this.faults.push(...(await compared(tenant, books, { invoices, now, wallet })))
    return invoices
  }

  private async invoices(): Promise<Row[]> {
    const all: Row[] = []
    for (let page = 1; ; page += 1) {
      const url = `/v1/invoices?customer_id=${this.of.customer}&order_direction=asc&limit=100&page=${page}`
      const { data } = (await this.call('GET', url)) as { data: Row[] }
      all.push(...data)
      if (data.length < 100) return all
    }
  }

  private readonly call = (method: string, url: string, body?: unknown): Promise<Row> =>
    succeed(this.tenant, method, url, body)

  /** Sends what the rules allow, or refuse. */
  private async send(isAllowed: boolean, method: string, url: string, body?: unknown): Promise<Row | null> {
    if (isAllowed) return await this.call(method, url, body)
    const [status, code] = await refusal(this.tenant, method, url, body)
    if (`${[status, code]}` !== `${REFUSED}` && `${[status, code]}` !== '400,INVALID_FIELD')
      this.faults.push(`${method} ${url} ${JSON.stringify(body)} is not refused: ${status} ${code}`)
    return null
  }

  private async grant(now: number): Promise<void> {
    const { random, tenant, of } = this
    const { seed } = tenant
    if (this.wallet === null) {
      const type = await this.call('POST', '/v1/wallet-types', {
        reference: seed.unique('type'),
        name: 'Prepaid',
        status: 'ACTIVE',
        type: 'BALANCE',
        balance: { default_currency: 'EUR' },
      })
      this.wallet = await this.call('POST', '/v1/wallets', {
        reference: seed.unique('wallet'),
        status: 'ACTIVE',
        wallet_type_id: type['id'],
        customer_id: of.customer,
      })
    }
    const cents = whole(random, 1, 40_000)
    await this.call('POST', '/v1/wallet-grants', {
      customer_id: of.customer,
      billing_entity_id: of.entity,
      wallet_id: this.wallet['id'],
      grant_amount: euro(cents),
    })
    this.books.granted += cents
    this.books.grantedAt = now
  }

  /** An invoice made by hand: issued, left as a DRAFT, or VOID. */
  private async byHand(): Promise<void> {
    const { random, of } = this
    const line = (place: number) => ({
      pricing_name: `Work ${place}`,
      pricing_type: 'FIXED',
      pricing_band: { amount: euro(whole(random, 1, 30_000)) },
    })
    const { id } = await this.call('POST', '/v1/invoices', {
      customer_id: of.customer,
      billing_entity_id: of.entity,
      lines: Array.from({ length: whole(random, 1, 3) }, (_, place) => line(place)),
    })
    const becomes = pick(random, ['FINAL', 'FINAL', 'FINAL', 'DRAFT', 'VOID'] as const)
    if (becomes === 'VOID') await this.call('POST', `/v1/invoices/${id}/void`)
    if (becomes === 'FINAL') await this.call('PATCH', `/v1/invoices/${id}`, { status: 'FINAL' })
  }

  private async act(now: number, last: boolean): Promise<void> {
    const { random, books } = this
    const invoices = await this.compare(now)
    const payable = invoices.filter(({ id }) => books.invoices.has(id))
    const others = invoices.filter(({ id }) => !books.invoices.has(id))
    if (others.length > 0 && chance(random, 0.15)) {
      const { id, status } = pick(random, others as [Row, ...Row[]])
      await this.send(false, 'POST', '/v1/payments', { invoice_id: id, amount: euro(whole(random, 1, 500)) })
      // A credit note may be said to be settled.
      if (status !== 'FINAL') await this.send(false, 'PATCH', `/v1/invoices/${id}`, { payment_status: 'PAID' })
      return
    }
    if (payable.length === 0) return
    // The newest ones are paid most often.
    const place = payable.length - 1 - Math.floor(random() ** 2 * payable.length)
    const row = payable[place]
    const own = row && books.invoices.get(row['id'])
    if (!row || !own) return
    const isByHand = row['type'] === 'ONE_OFF'
    const acts = [
      () => this.pay(row, own, now),
      () => this.pay(row, own, now),
      () => this.reverse(own),
      () => this.refundPayment(own),
      () => this.refundInvoice(row, own),
      () => this.mark(row, own),
      // What a credit takes of a subscription's invoice may change what it is billed next.
      () => (isByHand || last ? this.credit(row, own) : this.pay(row, own, now)),
    ] as const
    await pick(random, acts)()
  }

  private async pay({ id }: Row, own: SlowInvoice, now: number): Promise<void> {
    const { random } = this
    const { open } = own.shown()
    const cents =
      open <= 0
        ? whole(random, 1, 2_000)
        : pick(random, [open, open, whole(random, 1, open), open + whole(random, 1, 3_000)])
    const at = chance(random, 0.3) ? now - whole(random, 1, 20) * DAY : now
    const timestamp = at === now ? {} : { timestamp: text(at) }
    const made = await this.call('POST', '/v1/payments', { invoice_id: id, amount: euro(cents), ...timestamp })
    own.pay({ id: made['id'], cents, at, result: 'AUTHORIZED' })
  }

  private async reverse(own: SlowInvoice): Promise<void> {
    const payment = this.anyOf(own)
    if (payment) await this.send(own.reverse(payment.id), 'POST', `/v1/payments/${payment.id}/reverse`)
  }

  private async refundPayment(own: SlowInvoice): Promise<void> {
    const payment = this.anyOf(own)
    if (!payment) return
    const cents = chance(this.random, 0.3) ? null : whole(this.random, 1, payment.cents)
    const body = cents === null ? {} : { amount: euro(cents) }
    await this.send(own.refundPayment(payment.id, cents), 'POST', `/v1/payments/${payment.id}/refund`, body)
  }

  private anyOf({ payments }: SlowInvoice): SlowPayment | null {
    const [first, ...others] = payments
    return first ? pick(this.random, [first, ...others]) : null
  }

  private async refundInvoice({ id }: Row, own: SlowInvoice): Promise<void> {
    await this.send(own.refundInvoice(), 'POST', `/v1/invoices/${id}/refund`)
  }

  private async mark({ id }: Row, own: SlowInvoice): Promise<void> {
    const status = pick(this.random, ['PAID', 'UNPAID'] as const)
    const isAllowed = status === 'PAID' ? own.markPaid() : own.markUnpaid()
    await this.send(isAllowed, 'PATCH', `/v1/invoices/${id}`, { payment_status: status })
  }

  /** All that is left, or a part of its first line. */
  private async credit({ id }: Row, own: SlowInvoice): Promise<void> {
    const { random, books } = this
    const url = `/v1/invoices/${id}/credit`
    const amount = euro(whole(random, 1, 4_000))
    const groups = [{ group_order: 0, lines: [{ line_order: 0, amount }] }]
    const body = chance(random, 0.4) ? {} : { periods: [{ period_order: 0, groups }] }
    if (books.creditedWhole.has(id)) {
      await this.send(false, 'POST', url, body)
      return
    }
    const { status, body: credit } = await this.tenant.call('POST', url, body)
    if (status >= 300) {
      // A part may be more than is left, and an invoice of nothing has nothing to credit.
      if (status !== 400) this.faults.push(`POST ${url}: ${status} ${credit['code']}`)
    } else if (chance(random, 0.25)) await this.call('POST', `/v1/invoices/${credit['id']}/void`)
    else {
      if (!('periods' in body)) books.creditedWhole.add(id)
      if (chance(random, 0.5)) await this.send(false, 'POST', '/v1/payments', { invoice_id: credit['id'], amount })
      await this.call('PATCH', `/v1/invoices/${credit['id']}`, { status: 'FINAL' })
      own.credit(-centsOf(credit['invoice_amount_including_tax']))
    }
  }
}
