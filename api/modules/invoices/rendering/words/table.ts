// What a table of words holds: every fixed text of an invoice document.

/** The sentences that tax and discounts write on an invoice in English, by meaning. */
export type Sentence =
  | 'REVERSE_CHARGE'
  | 'EXPORT'
  | 'NO_TAX'
  | 'EXEMPT'
  | 'PARTIALLY_EXEMPT'
  | 'TAX_EXEMPT'
  | 'SELF_BILLING_UK_DOMESTIC'

export type Words = {
  readonly invoice: string
  /** What the law has an invoice called that the buyer issues (Directive 2006/112/EC, article 226 (10a)). */
  readonly selfBilling: string
  readonly creditNote: string
  readonly draft: string
  readonly paid: string
  readonly void: string
  readonly from: string
  readonly to: string
  /** The parties of a self-billing invoice: the customer, and the billing entity that issues it. */
  readonly supplier: string
  readonly selfBiller: string
  readonly invoiceDate: string
  readonly dueDate: string
  readonly servicePeriod: string
  readonly purchaseOrder: string
  readonly currency: string
  readonly amountDue: string
  readonly amountCredited: string
  readonly taxId: string
  readonly registrationNumber: string
  readonly description: string
  readonly quantity: string
  readonly unitPrice: string
  readonly amount: string
  readonly nothingCharged: string
  readonly totalExcludingTax: string
  readonly total: string
  readonly paidAmount: string
  readonly paidFromBalance: string
  readonly taxSummary: string
  readonly tax: string
  readonly rate: string
  readonly taxable: string
  readonly taxAmount: string
  /** What is taxed and its tax, in the currency of the tax authority. */
  readonly inTaxCurrency: (taxable: string, tax: string) => string
  readonly noTax: string
  readonly exempt: string
  readonly reverseCharge: string
  readonly payment: string
  readonly accountHolder: string
  readonly paymentReference: string
  readonly payOnline: string
  readonly scanToPay: string
  readonly discount: string
  readonly discountOf: (percentage: string) => string
  readonly discountOnTotal: string
  readonly discountOfOnTotal: (percentage: string) => string
  readonly minimum: string
  readonly minimumOnTotal: string
  readonly markup: string
  readonly markupOf: (percentage: string) => string
  readonly onTopOf: (amount: string) => string
  readonly beyondCharged: (amount: string) => string
  readonly percentageOf: (percentage: string, amount: string) => string
  readonly deductedFrom: (amount: string) => string
  readonly beyondDeducted: (amount: string) => string
  readonly forPartOfTime: (part: string) => string
  readonly per: (block: string) => string
  readonly prorated: (covered: string, days: string) => string
  readonly rounded: (exact: string, rounded: string) => string
  readonly previouslyBilled: (amount: string) => string
  readonly bounds: Readonly<Record<string, string>>
  /** Of a bound of a tier that goes by the number of events. */
  readonly events: (number: string) => string
  readonly upTo: (bound: string) => string
  readonly between: (lower: string, top: string) => string
  readonly above: (bound: string) => string
  readonly pageOf: (page: number, pages: number) => string
  readonly continued: string
  readonly sentences: Readonly<Record<Sentence, string>>
}
