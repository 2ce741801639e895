// Fields of approval policies and approval requests.
const STRATEGY =
  'EVERYONE_HAS_TO_APPROVE: all reviewers. ANYONE_CAN_DECIDE: the first decision counts. ALL_LEVELS_MUST_APPROVE: one of each level, from the lowest up. HIGHER_LEVEL_CAN_OVERRIDE: one of the highest level, whatever the levels below have decided by then. Whatever the strategy, who declines ends it.'
const SOURCE = 'What is submitted. Today only PRICING_PLAN_SCHEDULE.'
const IS_CUSTOM = 'Whether it differs from what the platform gives new subscriptions.'

export const APPROVALS: Readonly<Record<string, string>> = {
  'ApprovalPolicy.source_type': SOURCE,
  'ApprovalPolicyCreate.source_type': SOURCE,
  'ApprovalPolicy.name': 'What it is about, for people.',
  approval_type: 'GROUP: the approvers stand beside each other. LEVEL: each group of them has a level.',
  approvers: 'Who decides, and by which strategy.',
  'Approvers.type': `${STRATEGY} Default EVERYONE_HAS_TO_APPROVE; the two of levels go with LEVEL alone.`,
  approval_groups: 'The approvers, in groups. With LEVEL a group for each level.',
  'ApprovalGroup.level': 'With LEVEL: the level of the group, from 1 for the lowest. Not with GROUP.',
  'ApprovalGroup.approvers': 'The users of the group.',
  'ApprovalPolicyApprover.type': 'Always USER.',
  'ApprovalPolicyApprover.user': 'A user of the platform.',
  'ApprovalPolicyUser.id': 'Id of the user.',
  rule_groups:
    'What needs an approval: whatever meets every rule of one of the groups. Empty: everything, as does a group without rules.',
  'ApprovalPolicyRuleGroup.rules': 'The rules that have to be met together.',
  'ApprovalPolicyRule.type': 'What the rule is about. It has the member of that name, and no other.',
  'ApprovalPolicyRule.comparator':
    'How the value of the schedule compares with that of the rule. Of DISCOUNT and COMMITMENT required; of CUSTOM_FIELD EQUALS unless the field is a NUMBER; of the others EQUALS.',
  'ApprovalPolicyRule.discount': 'With DISCOUNT: compared with the largest single discount. Coupons count; none is 0.',
  'ApprovalPolicyDiscount.amount': 'An amount. Those in other currencies are converted. This or `percentage`.',
  'ApprovalPolicyRule.commitment': 'With COMMITMENT: compared with the largest single commitment in money. None is 0.',
  'ApprovalPolicyRule.pricing': 'With PRICING: whether there are other prices than those of the plan.',
  has_override: 'Whether the schedule overrides prices, or has prices of its own.',
  'ApprovalPolicyRule.custom_field': 'With CUSTOM_FIELD: a custom field of the subscription or its customer.',
  'ApprovalPolicyCustomField.id': 'Id of the custom field.',
  'ApprovalPolicyCustomField.value': 'The value to compare with.',
  'ApprovalPolicyRule.billing_entity': 'With BILLING_ENTITY: about who bills.',
  'ApprovalPolicyRule.billing_period': 'With BILLING_PERIOD: about how long billing periods are.',
  'ApprovalPolicyRule.due_date': 'With DUE_DATE: about when invoices are due.',
  'ApprovalPolicyRule.payment_acceptor': 'With PAYMENT_ACCEPTOR: about how invoices can be paid.',
  is_custom: IS_CUSTOM,
  approval_policy_ids: 'Ids of the policies that required the approval.',
  approval_policies: 'The policies that required the approval. Included by `expand[]=approval_policies`.',
  'ApprovalRequest.source_type': 'What was submitted: PRICING_PLAN_SCHEDULE.',
  source_id: 'Id of what was submitted.',
  'ApprovalRequest.status':
    'PENDING_REVIEW until it is decided or cancelled. APPROVED: what was submitted is valid. DECLINED and CANCELLED: it is as before.',
  owner_id: 'Id of the user who submitted it, or of the API key.',
  reviewed_at: 'When it was decided. Null: it was not.',
  'ApprovalRequest.reviewed_at': 'When it was decided or cancelled. Null: it waits.',
  reviewers: 'Who decides, as the policy said when the request was made, and what they have decided.',
  'Reviewer.id': 'Id of the user.',
  'Reviewer.status': 'What the user has decided. PENDING_REVIEW: nothing.',
  'Reviewer.level': 'The level of the user. Null: there are no levels.',
  approval_strategy: STRATEGY,
  resource_ids: 'Ids of approval requests.',
  'ApprovalRequestBulkResult.resource_id': 'The id that was sent.',
  'ApprovalRequestBulkResult.status': 'Whether it was done.',
  'ApprovalRequestBulkResult.error': 'Why it was not done. Null: it was.',
}
