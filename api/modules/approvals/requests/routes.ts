// Deciding on approval requests, one by one or many at once.
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import Type from 'typebox'
import { inTenant, type Uow } from '../../../../shared/database/database.ts'
import type { AppError } from '../../../../shared/errors.ts'
import { toAppError } from '../../../http/errors.ts'
import { IdParams } from '../../../http/params.ts'
import { type ActionContext, actionRoute, type RouteDeps, writeRoute } from '../../../http/route.ts'
import { IdText, Included, Nullable, Shape } from '../../../resource/shapes.ts'
import { viewOf } from '../../../resource/views.ts'
import { inTimeOf } from '../../../test-clock/test-clock.ts'
import type { ApprovalRequest } from '../table.ts'
import { cancelRequest, decideRequest } from './decide-request.ts'
import { approvalRequestResource } from './request.ts'

type Act = (uow: Uow, id: string) => Promise<ApprovalRequest>

const ACTS: readonly { readonly verb: string; readonly one: string; readonly many: string; readonly act: Act }[] = [
  {
    verb: 'approve',
    one: 'Approve a request as one of its reviewers.',
    many: 'Approve requests as one of their reviewers, each on its own.',
    act: (uow, id) => decideRequest(uow, id, 'APPROVED'),
  },
  {
    verb: 'decline',
    one: 'Decline a request as one of its reviewers.',
    many: 'Decline requests as one of their reviewers, each on its own.',
    act: (uow, id) => decideRequest(uow, id, 'DECLINED'),
  },
  {
    verb: 'cancel',
    one: 'Take a request back, as its owner or with APPROVAL_POLICY.UPDATE.',
    many: 'Take requests back, each on its own.',
    act: cancelRequest,
  },
]

const MANY_MAX = 100
const ManyBody = Shape(
  { resource_ids: Type.Array(IdText('approval request'), { minItems: 1, maxItems: MANY_MAX, uniqueItems: true }) },
  { title: 'ApprovalRequestBulk' },
)
const Result = Type.Object(
  {
    resource_id: Type.String(),
    status: Type.Enum(['SUCCEEDED', 'FAILED']),
    error: Nullable(Included('Error')),
  },
  { title: 'ApprovalRequestBulkResult' },
)
const Results = Type.Object({ data: Type.Array(Result) }, { title: 'ApprovalRequestBulkResults' })

/** Registers approve, decline and cancel, of one and of many. */
export function approvalRequestRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const url = `/v1/${approvalRequestResource.path}`
  const common = {
    tag: approvalRequestResource.path,
    permission: 'APPROVAL_REQUEST.UPDATE' as const,
    method: 'POST' as const,
    status: 200 as const,
  }
  for (const { verb, one, many, act } of ACTS) {
    writeRoute(app, deps, {
      ...common,
      summary: one,
      url: `${url}/:id/${verb}`,
      params: IdParams,
      response: approvalRequestResource.view,
      handle: async (uow, { params }) => await viewOf(uow, approvalRequestResource, await act(uow, params.id)),
    })
    actionRoute(app, deps, {
      ...common,
      summary: many,
      url: `${url}/${verb}`,
      body: ManyBody,
      response: Results,
      handle: async (context, { body }, { log }) => ({
        data: await eachOf(context, body.resource_ids, { act, log }),
      }),
    })
  }
}

/** Each in a transaction and in the time of its own (contract: a failure does not roll back others). */
async function eachOf(
  { database, tenant, actor }: ActionContext,
  ids: readonly string[],
  { act, log }: { readonly act: Act; readonly log: FastifyBaseLogger },
): Promise<Type.Static<typeof Result>[]> {
  const results: Type.Static<typeof Result>[] = []
  for (const id of ids) {
    const error = await inTimeOf(database, tenant, [id], () =>
      inTenant(database, tenant, actor, async uow => void (await act(uow, id))),
    ).then(
      () => null,
      (thrown: unknown): AppError => toAppError(thrown),
    )
    if (error && error.status >= 500) log.error({ err: error, requestId: id }, 'a request of many could not be decided')
    results.push({
      resource_id: id,
      status: error === null ? 'SUCCEEDED' : 'FAILED',
      error: error?.toBody() ?? null,
    })
  }
  return results
}
