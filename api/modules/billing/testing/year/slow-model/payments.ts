// What is paid of a FINAL invoice, written from the rules (semantics 5.6, 9.2; docs/concepts.md, Payments and Credit notes) in whole
// cents. It shares no code with the product, so that the two agree only when both are right.

export type SlowPayment = {
  readonly id: string
  readonly cents: number
  /** When it was paid; of two at one time the one that was recorded later is newer. */
  readonly at: number
  /** Of an attempt: only what is AUTHORIZED is paid. CANCELLED as well, once it is reversed. */
  readonly result: 'AUTHORIZED' | 'PENDING' | 'REFUSED' | 'ERROR' | 'CANCELLED'
  readonly back: number
}

/** What an invoice shows of it. */
export type Shown = {
  readonly status: 'UNPAID' | 'PARTIALLY_PAID' | 'PAID' | 'OVERPAID'
  readonly paid: number
  readonly open: number
  readonly refundable: number
}

export class SlowInvoice {
  readonly total: number
  payments: readonly SlowPayment[] = []
  wallet: number
  credited = 0
  /** How often it became paid other than by a credit. */
  timesPaid: number
  private marked = 0
  private status: Shown['status']
  constructor(total: number, wallet: number) {
    this.total = total
    this.wallet = wallet
    this.status = this.statusByAmounts()
    this.timesPaid = this.isPaid() ? 1 : 0
  }

  shown(): Shown {
    const open = this.isPaid() ? 0 : this.due() - this.paid()
    return { status: this.status, paid: this.paid(), open, refundable: this.refundable() }
  }

  pay(payment: Omit<SlowPayment, 'back'>): void {
    this.change(() => {
      this.payments = [...this.payments, { ...payment, back: 0 }]
    })
  }

  /** False where it is refused: what was reversed, or paid back in full, counts no more. */
  reverse(id: string): boolean {
    const payment = this.counting(id)
    if (!payment) return false
    this.change(() => this.replace({ ...payment, result: 'CANCELLED' }))
    return true
  }

  /** Of one payment; null for all that is left of it. False where it is refused. */
  refundPayment(id: string, cents: number | null): boolean {
    const payment = this.counting(id)
    if (!payment || (cents !== null && cents > left(payment))) return false
    this.change(() => this.replace({ ...payment, back: cents === null ? payment.cents : payment.back + cents }))
    return true
  }

  /** All that is paid beyond what is due: of the newest payments first, then of what was marked. False where there is nothing. */
  refundInvoice(): boolean {
    let rest = this.refundable()
    if (rest <= 0) return false
    this.change(() => {
      const newest = this.payments.filter(counts).toSorted((a, b) => b.at - a.at || this.placeOf(b) - this.placeOf(a))
      for (const payment of newest) {
        const part = Math.min(left(payment), rest)
        this.replace({ ...payment, back: payment.back + part })
        rest -= part
      }
      this.marked -= Math.min(this.marked, rest)
    })
    return true
  }

  /** Says that it is paid, without a payment. False where it is refused. */
  markPaid(): boolean {
    if (this.status === 'OVERPAID') return false
    if (this.status === 'PAID') return true
    this.marked = Math.max(0, this.due() - this.recorded() - this.wallet)
    this.status = 'PAID'
    this.timesPaid += 1
    return true
  }

  /** Takes that back. False where payments, credits or a wallet contradict it. */
  markUnpaid(): boolean {
    if (this.status === 'UNPAID') return true
    const before = this.marked
    this.marked = 0
    if (this.statusByAmounts() === 'UNPAID') {
      this.status = 'UNPAID'
      return true
    }
    this.marked = before
    return false
  }

  /** A credit note of it is FINAL. What wallets paid too much goes back to them first, and stays there. Gives how much that is. */
  credit(cents: number): number {
    this.credited += cents
    const kept = Math.min(this.wallet, Math.max(0, Math.max(0, this.due()) - this.recorded() - this.marked))
    const back = this.wallet - kept
    this.wallet = kept
    // Credited in full: nothing is owed, and there was no payment.
    this.status = this.statusByAmounts()
    return back
  }

  private change(act: () => void): void {
    const before = this.isPaid()
    act()
    this.status = this.statusByAmounts()
    if (this.isPaid() && !before) this.timesPaid += 1
  }

  private statusByAmounts(): Shown['status'] {
    const [due, paid] = [this.due(), this.paid()]
    if (paid > Math.max(0, due)) return 'OVERPAID'
    if (paid < due) return paid > 0 ? 'PARTIALLY_PAID' : 'UNPAID'
    return paid > 0 || (due === 0 && this.credited !== 0) ? 'PAID' : 'UNPAID'
  }

  private readonly isPaid = (): boolean => this.status === 'PAID' || this.status === 'OVERPAID'
  private readonly due = (): number => this.total - this.credited
  private readonly recorded = (): number =>
    this.payments.filter(counts).reduce((sum, payment) => sum + left(payment), 0)
  private readonly paid = (): number => this.recorded() + this.marked + this.wallet
  private readonly refundable = (): number => Math.max(0, this.paid() - Math.max(0, this.due()))
  private readonly placeOf = ({ id }: SlowPayment): number => this.payments.findIndex(each => each.id === id)
  private readonly counting = (id: string): SlowPayment | undefined =>
    this.payments.find(each => each.id === id && counts(each))

  private replace(payment: SlowPayment): void {
    this.payments = this.payments.map(each => (each.id === payment.id ? payment : each))
  }
}

const left = ({ cents, back }: SlowPayment): number => cents - back
const counts = (payment: SlowPayment): boolean => payment.result === 'AUTHORIZED' && left(payment) > 0

/** What became of a payment. */
export const resultOf = (payment: SlowPayment): SlowPayment['result'] | 'REFUNDED' =>
  payment.result === 'AUTHORIZED' && left(payment) === 0 ? 'REFUNDED' : payment.result
