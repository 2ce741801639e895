// Fields of what says where the figures of an invoice come from.

export const EXPLANATIONS: Readonly<Record<string, string>> = {
  'InvoiceLineExplanation.invoice_id': 'Id of the invoice.',
  'InvoiceLineExplanation.invoice_line_id': 'Id of the line.',
  'InvoiceLineExplanation.is_current':
    'Whether the steps lead to what the line prints. False when events were deleted or amended after the invoice was FINAL, or when it waits to be computed again.',
  'InvoiceLineExplanation.usage': 'What was counted. Null for a line that is not metered.',
  'InvoiceLineExplanation.price': 'The price as it stood. Null for a line that no price made.',
  'InvoiceLineExplanation.steps': 'How the amount came about, in order.',
  'InvoiceLineExplanation.taxes': 'The taxes of the line, each with its rule.',
  'InvoiceLineStep.step': 'What the step does.',
  'InvoiceLineStep.change': 'What the step adds, exactly.',
  'InvoiceLineStep.line_id':
    'Id of the other line: of the one that the step made, or, on a line that a clause or a wallet made, of the one that it changed.',
  'InvoiceLineTax.treatment': 'The rule by name.',
  'InvoiceLineTax.rule': 'The rule in words.',
  'InvoiceLineTax.source': 'Who publishes the rate. Null when no published rate applies.',
  'InvoiceLineUsage.calculation_id': 'Id of the meter value calculation.',
  'InvoiceLineUsage.calculation_reference': 'Reference of the meter value calculation.',
  'InvoiceLineUsage.meter_value_reference':
    'Reference of the value that is aggregated. Null when values of a property are counted.',
  'InvoiceLineUsage.conditions': 'The conditions that events must meet. Null when all count.',
  'InvoiceLineUsage.number_of_events': 'How many events were counted.',
  'InvoiceLineUsage.log_positions':
    'By partition of the log, the position up to which events were counted. Null while the invoice is not closed.',
  'InvoiceLineEvent.customer_key': 'The reference or id of the customer, as the event carries it.',
  'InvoiceLineEvent.content_hash': 'Hash of what the event says: 64 bits, hexadecimal.',
  'InvoiceLineEvent.change': 'What happened to the event after the invoice counted it. Absent when nothing did.',
  'InvoiceVerification.invoice_id': 'Id of the invoice.',
  'InvoiceVerification.verified_at': 'When it was priced again.',
  'InvoiceVerification.identical': 'Whether the document is the same, byte for byte.',
  'InvoiceVerification.issued_sha256': 'SHA-256 of the document as it was issued.',
  'InvoiceVerification.computed_sha256': 'SHA-256 of the document as it is priced now.',
  'InvoiceVerification.number_of_differences': 'How many members of the document differ.',
  'InvoiceVerification.differences': 'The members that differ; at most 100.',
  'InvoiceVerification.rule_changes':
    'Rules of pricing and tax that changed after the invoice was issued, and explain a difference. An invoice is compared by the rules of now.',
  'InvoiceVerification.changed_events':
    'Events that the invoice counted and that were deleted or amended since; at most 100, and none when the document is the same.',
  'InvoiceDifference.field': 'Path of the member in the document.',
  'InvoiceDifference.issued': 'Its value as it was issued. Null when it was not there.',
  'InvoiceDifference.computed': 'Its value as it is priced now. Null when it is not there.',
  'ChangedEvent.change': 'What happened to the event.',
  'UsageReceipt.invoice_id': 'Id of the invoice.',
  'UsageReceipt.root':
    'Root of the Merkle tree (RFC 9162, SHA-256) over the events that the invoice counted, hexadecimal.',
  'UsageReceipt.number_of_events': 'How many events are in the tree.',
  'UsageReceipt.proof': 'The proof that an event is in the tree. Absent when no reference is given.',
  'UsageReceiptProof.content_hash': 'Hash of what the event says: 64 bits, hexadecimal.',
  'UsageReceiptProof.index': 'Place of the event in the tree, from 0.',
  'UsageReceiptProof.hashes': 'The hashes that lead from the event to the root, from the bottom to the top.',
}
