// Charges ahead whose time had begun when their invoice was cut, because they came in a period that ran, such as those of a new plan. All
// others may be of the invoice that ends where their time begins, or of one before it. Pure.
const PREFIX = 'begun '

/** It as a text among the keys of charges, which tell what other invoices bill. */
export const textOfBegun = (key: string): string => PREFIX + key

/** Whether it is the text of such a charge, rather than the key of a charge. */
export const isBegun = (text: string): boolean => text.startsWith(PREFIX)

/** Whether the time of this charge, which another invoice bills, had begun when that was cut. */
export const hadBegun = (billed: ReadonlySet<string>, key: string): boolean => billed.has(textOfBegun(key))
