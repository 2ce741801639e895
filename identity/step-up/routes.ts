// The page on which a signed-in user shows anew who they are.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { asSystem } from '../../shared/database/database.ts'
import type { IdentityDeps } from '../deps.ts'
import { csrfToken, hasValidCsrfToken, invalidCsrfToken } from '../http/csrf.ts'
import { html } from '../pages/html.ts'
import { alert, page } from '../pages/layout.ts'
import { hasSecondFactor, type SecondFactorPrompt, secondFactorPrompt } from '../second-factor/factors.ts'
import { ProofFields, proofForms, proofIn } from '../second-factor/proof-form.ts'
import { WRONG_PROOF, waitMessage } from '../second-factor/second-step.ts'
import { sessionOf, setSessionCookie } from '../sessions/browser.ts'
import type { Session } from '../sessions/session-store.ts'
import { type Confirmed, confirmByFactor, confirmByPassword } from './confirm.ts'
import { STEP_UP_TARGETS, type StepUpTarget, stepUpTargetNamed } from './step-up.ts'

const HTML = 'text/html; charset=utf-8'
const PATH = '/confirm'
const Form = Type.Object({
  act: Type.String({ maxLength: 64 }),
  password: Type.Optional(Type.String({ maxLength: 1_024 })),
  ...ProofFields,
})
type Fields = Static<typeof Form>

export function stepUpRoutes(app: FastifyInstance, deps: IdentityDeps): void {
  app.get<{ Querystring: { act?: unknown } }>(PATH, async (request, reply) => {
    const session = await sessionOf(deps.database, request)
    if (!session) return await reply.redirect('/sign-in', 303)
    const act = stepUpTargetNamed(request.query.act)
    if (act === null) return await reply.redirect('/', 303)
    return await show(deps, request, reply, { session, act })
  })

  app.post<{ Body: Fields }>(PATH, { schema: { body: Form } }, async (request, reply) => {
    if (!hasValidCsrfToken(request, deps.identityUrl)) throw invalidCsrfToken()
    const session = await sessionOf(deps.database, request)
    if (!session) return await reply.redirect('/sign-in', 303)
    const act = stepUpTargetNamed(request.body.act)
    if (act === null) return await reply.redirect('/', 303)
    const confirmed = await confirm(deps, session, request.body)
    if ('token' in confirmed) {
      setSessionCookie(reply, confirmed.token)
      return await reply.redirect(STEP_UP_TARGETS[act], 303)
    }
    if ('wait' in confirmed) {
      reply.status(429).header('retry-after', String(confirmed.wait))
      return await show(deps, request, reply, { session, act, fault: waitMessage(confirmed.wait) })
    }
    const fault = request.body.password === undefined ? WRONG_PROOF : 'That is not your password.'
    return await show(deps, request, reply.status(401), { session, act, fault })
  })
}

async function confirm(deps: IdentityDeps, session: Session, fields: Fields): Promise<Confirmed> {
  const proof = proofIn(fields)
  if (proof !== null) return await confirmByFactor(deps, session, proof)
  return await confirmByPassword(deps, session, fields.password ?? '')
}

async function show(
  deps: IdentityDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  view: { readonly session: Session; readonly act: StepUpTarget; readonly fault?: string },
): Promise<FastifyReply> {
  const { id, userId } = view.session
  const question = await asSystem(deps.database, 'identity', tx => secondFactorPrompt(deps, tx, { userId, owner: id }))
  return await reply.type(HTML).send(confirmPage({ ...view, question, csrf: csrfToken(request, reply) }))
}

function confirmPage(view: {
  readonly session: Session
  readonly act: StepUpTarget
  readonly question: SecondFactorPrompt
  readonly csrf: string
  readonly fault?: string
}): string {
  const { session, act, question, csrf, fault } = view
  const hidden = html`<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="act" value="${act}">`
  return page(
    'Confirm that it is you',
    html`<h1>Confirm that it is you</h1>
<p>You are signed in as <strong>${session.username}</strong>. Confirm once more that it is you.</p>
${fault === undefined ? null : alert(fault)}
${
  hasSecondFactor(question.factors)
    ? proofForms(PATH, hidden, question)
    : html`<form class="wide" method="post" action="${PATH}">${hidden}
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required autofocus>
<button>Confirm</button>
</form>`
}
<p class="foot"><a href="/">Back to your account</a></p>`,
    { script: question.passkeyOptions !== null },
  )
}
