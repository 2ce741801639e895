// The second step of signing in. It is open to a browser whose user has just given the right password, and to nobody else.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { asSystem } from '../../shared/database/database.ts'
import type { IdentityDeps } from '../deps.ts'
import { csrfToken, hasValidCsrfToken, invalidCsrfToken } from '../http/csrf.ts'
import { html } from '../pages/html.ts'
import { alert, page } from '../pages/layout.ts'
import { setSessionCookie } from '../sessions/browser.ts'
import { startSession } from '../sessions/session-store.ts'
import { redirectAfterSignIn } from '../sign-in/redirect-after-sign-in.ts'
import { clearAttempts, countAttempt } from './attempts.ts'
import { type SecondFactorPrompt, secondFactorPrompt, verifyProof } from './factors.ts'
import { clearPendingCookie, lockPendingSignIn, removePendingSignIn } from './pending-sign-in.ts'
import { ProofFields, proofForms, proofIn } from './proof-form.ts'

const HTML = 'text/html; charset=utf-8'
const PATH = '/sign-in/second'
const Form = Type.Object(ProofFields)

/** What is said of a proof that was wrong, and of one that has to wait. */
export const WRONG_PROOF = 'That is not right, or was used already. Wait for a new code and try again.'
export const waitMessage = (seconds: number): string =>
  `Too many wrong tries. Wait ${seconds < 100 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`} and try again.`

export function secondStepRoutes(app: FastifyInstance, deps: IdentityDeps): void {
  app.get(PATH, async (request, reply) => (await show(deps, request, reply)) ?? reply.redirect('/sign-in', 303))

  app.post<{ Body: Static<typeof Form> }>(PATH, { schema: { body: Form } }, async (request, reply) => {
    if (!hasValidCsrfToken(request, deps.identityUrl)) throw invalidCsrfToken()
    const answer = await answerStep(deps, request)
    if (answer === null) return await reply.redirect('/sign-in', 303)
    if ('token' in answer) {
      clearPendingCookie(reply)
      setSessionCookie(reply, answer.token)
      return await reply.redirect(redirectAfterSignIn(answer.waiting), 303)
    }
    if ('wait' in answer) {
      reply.status(429).header('retry-after', String(answer.wait))
      return await show(deps, request, reply, waitMessage(answer.wait))
    }
    return await show(deps, request, reply.status(401), WRONG_PROOF)
  })
}

type Answer =
  | { readonly token: string; readonly waiting: string | null }
  | { readonly wait: number }
  | { readonly wrong: true }

/** Judges the proof and, when it is right, turns the half-done sign-in into a session, in one transaction. Null: there is none. */
async function answerStep(
  deps: IdentityDeps,
  request: FastifyRequest<{ Body: Static<typeof Form> }>,
): Promise<Answer | null> {
  const proof = proofIn(request.body)
  return await asSystem(deps.database, 'identity', async tx => {
    const pending = await lockPendingSignIn(tx, request)
    if (pending === null) return null
    if (proof === null) return { wrong: true }
    const { id, userId, waiting } = pending
    const wait = await countAttempt(tx, userId)
    if (wait !== null) return { wait }
    if (!(await verifyProof(deps, tx, { userId, owner: id, proof }))) {
      request.log.warn({ userId, kind: proof.kind }, 'a second factor was wrong')
      return { wrong: true }
    }
    await clearAttempts(tx, userId)
    await removePendingSignIn(tx, id)
    return { token: await startSession(tx, userId), waiting }
  })
}

/** Shows the page; null when no sign-in of this browser is half done. */
async function show(
  deps: IdentityDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  fault?: string,
): Promise<FastifyReply | null> {
  const question = await asSystem(deps.database, 'identity', async tx => {
    const pending = await lockPendingSignIn(tx, request)
    return pending && (await secondFactorPrompt(deps, tx, { userId: pending.userId, owner: pending.id }))
  })
  if (question === null) return null
  const csrf = csrfToken(request, reply)
  return await reply.type(HTML).send(secondStepPage({ csrf, question, ...(fault === undefined ? {} : { fault }) }))
}

const secondStepPage = (view: {
  readonly csrf: string
  readonly question: SecondFactorPrompt
  readonly fault?: string
}): string =>
  page(
    'Second step',
    html`<h1>Second step</h1>
<p>Your password was right. Now show that it is you.</p>
${view.fault === undefined ? null : alert(view.fault)}
${proofForms(PATH, html`<input type="hidden" name="csrf" value="${view.csrf}">`, view.question)}
<p class="foot"><a href="/sign-in">Sign in as someone else</a></p>`,
    { script: view.question.passkeyOptions !== null },
  )
