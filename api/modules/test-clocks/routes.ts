// The calls on test clocks.
import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { readTenant } from '../../../shared/database/database.ts'
import { IdParams } from '../../http/params.ts'
import { actionRoute, type RouteDeps, readRoute, writeRoute } from '../../http/route.ts'
import { IdText, Name, Nullable, OneOf, Optional, Shape, Timestamp } from '../../resource/shapes.ts'
import { normalizeTimes } from '../../resource/timestamps.ts'
import type { BillingDeps } from '../billing/run/compute-invoice.ts'
import {
  attachCustomers,
  createClock,
  getClock,
  listClocks,
  type NewClock,
  viewOfClock,
} from '../subscriptions/test-clocks/store-clocks.ts'
import { advanceClock } from './advance-clock.ts'

const CustomerIds = Type.Array(IdText('customer'), { maxItems: 100 })
const CreateBody = Shape(
  {
    name: Optional(Nullable(Name)),
    frozen_time: { ...Timestamp, description: 'The time that the clock starts at.' },
    customer_ids: Optional(CustomerIds),
  },
  { title: 'NewTestClock' },
)
const AttachBody = Shape({ customer_ids: CustomerIds }, { title: 'TestClockAttach' })
const AdvanceBody = Shape(
  { frozen_time: { ...Timestamp, description: 'The time to advance to.' } },
  { title: 'TestClockAdvance' },
)

const members = {
  object_type: OneOf('TEST_CLOCK'),
  id: Type.String(),
  name: Nullable(Type.String()),
  frozen_time: { ...Timestamp, description: 'The time of the clock.' },
  status: OneOf('READY', 'ADVANCING'),
  customer_ids: Type.Array(Type.String(), { description: 'The customers that live in its time.' }),
  created_at: Timestamp,
}
const TestClockShape = Type.Object(members, { title: 'TestClock' })
const AdvanceAnswer = Type.Object(
  {
    ...members,
    billing_runs: Type.Integer({ description: 'How often a subscription was billed on the way.' }),
    complete: Type.Boolean({
      description: 'Whether all that falls due until the given time has been done. If not, send the same call again.',
    }),
    failures: Type.Array(
      Type.Object(
        {
          pricing_plan_subscription_id: Type.String(),
          at: { ...Timestamp, description: 'The time of the clock at which it was to be billed.' },
          message: Type.String({ description: 'Why it could not be billed.' }),
        },
        { title: 'TestClockFailure' },
      ),
      { description: 'The subscriptions that could not be billed, each with its last fault.' },
    ),
  },
  { title: 'TestClockAdvanced' },
)
const ListAnswer = Type.Object({ data: Type.Array(TestClockShape) }, { title: 'TestClockList' })

const PATH = '/v1/test-clocks'
const tag = 'test-clocks'

export function testClockRoutes(app: FastifyInstance, deps: RouteDeps & BillingDeps): void {
  writeRoute(app, deps, {
    tag,
    permission: 'TEST_CLOCK.CREATE',
    summary: 'Create a test clock, in TEST: the time in which some customers live.',
    method: 'POST',
    url: PATH,
    status: 201,
    body: CreateBody,
    response: TestClockShape,
    handle: async (uow, { body }) =>
      await viewOfClock(uow, await createClock(uow, normalizeTimes(CreateBody, body) as NewClock)),
  })
  readRoute(app, deps, {
    tag,
    permission: 'TEST_CLOCK.VIEW',
    summary: 'List test clocks.',
    method: 'GET',
    url: PATH,
    response: ListAnswer,
    handle: async uow => {
      const data = []
      for (const clock of await listClocks(uow)) data.push(await viewOfClock(uow, clock))
      return { data }
    },
  })
  readRoute(app, deps, {
    tag,
    permission: 'TEST_CLOCK.VIEW',
    summary: 'Read a test clock.',
    method: 'GET',
    url: `${PATH}/:id`,
    params: IdParams,
    response: TestClockShape,
    handle: async (uow, { params }) => await viewOfClock(uow, await getClock(uow, params.id, { lock: false })),
  })
  writeRoute(app, deps, {
    tag,
    permission: 'TEST_CLOCK.UPDATE',
    summary: 'Have customers live in the time of a test clock.',
    method: 'POST',
    url: `${PATH}/:id/customers`,
    status: 200,
    params: IdParams,
    body: AttachBody,
    response: TestClockShape,
    handle: async (uow, { params, body }) =>
      await viewOfClock(uow, await attachCustomers(uow, params.id, body.customer_ids)),
  })
  actionRoute(app, deps, {
    tag,
    permission: 'TEST_CLOCK.UPDATE',
    summary: 'Advance a test clock. It answers when all that falls due of its customers has been done.',
    method: 'POST',
    url: `${PATH}/:id/advance`,
    status: 200,
    params: IdParams,
    body: AdvanceBody,
    response: AdvanceAnswer,
    handle: async ({ tenant, actor }, { params, body }) => {
      const { frozen_time } = normalizeTimes(AdvanceBody, body) as { frozen_time: string }
      const advanced = await advanceClock(deps, { tenant, actor, clockId: params.id }, frozen_time)
      const clock = await readTenant(deps.database, tenant, async uow =>
        viewOfClock(uow, await getClock(uow, params.id, { lock: false })),
      )
      return { ...clock, ...advanced }
    },
  })
}
