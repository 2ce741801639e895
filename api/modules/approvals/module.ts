// Approvals: what users have to approve before it becomes valid.
import { onSeeded } from '../../resource/routes/route-fixture.ts'
import { containingAt, namedBy } from '../../resource/rules.ts'
import { defineModule } from '../define-module.ts'
import { APPROVAL_EVENTS } from './events.ts'
import { approvalPolicyResource } from './policies/policy.ts'
import { approvalRequestResource } from './requests/request.ts'
import { approvalRequestRoutes } from './requests/routes.ts'
import { approvalPolicies } from './table.ts'

const EACH =
  'The answer has a result for each id: one that fails says why, and takes nothing back that was done for the others.'
// Each id succeeds or fails on its own: a foreign one fails in an answer that succeeds (approval-requests.it.test.ts).
const aRequest = () => ({ resource_ids: ['none'] })

export const approvals = defineModule({
  name: 'approvals',
  events: [APPROVAL_EVENTS],
  resources: [approvalPolicyResource, approvalRequestResource],
  routes: approvalRequestRoutes,
  guards: [
    namedBy(
      { objectType: 'CUSTOM_FIELD' },
      {
        table: approvalPolicies,
        noun: 'approval policy',
        shown: approvalPolicies.reference,
        names: containingAt(approvalPolicies.rule_groups, '$[*].rules[*].custom_field.id'),
      },
    ),
  ],
  operationTexts: {
    approval_requests_approve:
      'Only a user who is a reviewer can, once. The last approval that the strategy needs makes what was submitted valid, with every ' +
      'check of that; what is refused then leaves the request as it was.',
    approval_requests_decline:
      'Only a user who is a reviewer can. It ends the request: what was submitted is as before.',
    approval_requests_cancel:
      'Only its owner can, or a user or key with APPROVAL_POLICY.UPDATE. What was submitted can be changed and submitted again.',
    approval_requests_approve_many: `As approving each of them. ${EACH}`,
    approval_requests_decline_many: `As declining each of them. ${EACH}`,
    approval_requests_cancel_many: `As cancelling each of them. ${EACH}`,
  },
  fixtures: {
    'POST /v1/approval-requests/:id/approve': onSeeded('APPROVAL_REQUEST'),
    'POST /v1/approval-requests/:id/decline': onSeeded('APPROVAL_REQUEST'),
    'POST /v1/approval-requests/:id/cancel': onSeeded('APPROVAL_REQUEST'),
    'POST /v1/approval-requests/approve': { body: aRequest },
    'POST /v1/approval-requests/decline': { body: aRequest },
    'POST /v1/approval-requests/cancel': { body: aRequest },
  },
})
