// The protocol as a state machine: approve, deny, expire, redeem, refresh and revoke in any order, against what must never
// happen. The model carries the decisions out in memory as the stores do in the database. It asks `ok`, since a hundred thousand
// calls of `expect` would take most of the time.
import { ok } from 'node:assert/strict'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decideCode, decideRefresh, LIFETIMES, type StoredGrant, WRONG_VERIFIERS_MAX } from './decide.ts'

const ME = 'client-1'
const RESOURCE = 'https://api.example'

type Token = { createdAt: number; rotatedAt: number | null; successor: number | null }
type World = {
  now: number
  status: 'PENDING' | 'APPROVED' | 'DENIED'
  code: { createdAt: number; usedAt: number | null; wrongTries: number } | null
  revokedAt: number | null
  grantedAt: number
  isMember: boolean
  /** Whether the client still has the address that the code was sent to. */
  isListed: boolean
  tokens: Token[]
  redemptions: number
  /** Times at which tokens were handed out. */
  issued: number[]
}

const fresh = (): World => ({
  now: 0,
  status: 'PENDING',
  code: null,
  revokedAt: null,
  grantedAt: 0,
  isMember: true,
  isListed: true,
  tokens: [],
  redemptions: 0,
  issued: [],
})

const grantOf = (world: World): StoredGrant => ({
  clientId: ME,
  resource: RESOURCE,
  revoked: world.revokedAt !== null,
  expired: world.now - world.grantedAt >= LIFETIMES.refreshAbsolute,
  reachesSomething: world.isMember,
})

const issue = (world: World, clientId: string): void => {
  ok(clientId === ME, 'no other client is issued anything')
  ok(world.revokedAt === null, 'nothing is issued after the end')
  ok(world.isMember, 'nothing is issued to a user who has left')
  ok(world.now - world.grantedAt < LIFETIMES.refreshAbsolute, 'no grant outlives its lifetime')
  world.issued.push(world.now)
}

const knowsAll = (who: { clientId: string; verifierMatches: boolean }): boolean =>
  who.clientId === ME && who.verifierMatches

const steps = {
  approve: (world: World) => {
    if (world.status !== 'PENDING' || world.now >= LIFETIMES.request) return
    world.status = 'APPROVED'
    world.grantedAt = world.now
    world.code = { createdAt: world.now, usedAt: null, wrongTries: 0 }
  },
  deny: (world: World) => {
    if (world.status === 'PENDING' && world.now < LIFETIMES.request) world.status = 'DENIED'
  },
  revoke: (world: World) => {
    if (world.code) world.revokedAt ??= world.now
  },
  leave: (world: World) => {
    world.isMember = false
  },
  join: (world: World) => {
    world.isMember = true
  },
  unlist: (world: World) => {
    world.isListed = false
  },
  redeem: (world: World, who: { clientId: string; verifierMatches: boolean }) => {
    const { code } = world
    if (!code) return
    const decision = decideCode(
      {
        redirectUri: 'https://app.example/',
        redirectUriGiven: true,
        isStillListed: world.isListed,
        expired: world.now - code.createdAt >= LIFETIMES.code,
        used: code.usedAt !== null,
        wrongTries: code.wrongTries,
      },
      grantOf(world),
      { ...who, redirectUri: 'https://app.example/', resource: RESOURCE },
    )
    if (decision.kind === 'issue') {
      ok(knowsAll(who), 'only its client, with its verifier, redeems a code')
      ok(world.now - code.createdAt < LIFETIMES.code, 'no code outlives its lifetime')
      ok(code.wrongTries < WRONG_VERIFIERS_MAX, 'no code outlives too many wrong verifiers')
      ok(world.isListed, 'no code is redeemed at an address that is no longer listed')
      issue(world, who.clientId)
      code.usedAt = world.now
      world.redemptions += 1
      world.tokens.push({ createdAt: world.now, rotatedAt: null, successor: null })
    } else if (decision.consequence === 'count-try') {
      code.wrongTries += 1
    } else if (decision.consequence === 'revoke-grant') {
      // Only somebody who knows everything may end a grant by coming second.
      ok(knowsAll(who), 'who comes second ends a grant only by knowing everything')
      world.revokedAt ??= world.now
    }
  },
  /** `age`: how many tokens came after the one that is shown. */
  refresh: (world: World, age: number, clientId: string) => {
    const token = world.tokens.at(-1 - age)
    if (!token) return
    const successor = token.successor === null ? null : world.tokens[token.successor]
    const decision = decideRefresh(
      {
        expired: world.now - token.createdAt >= LIFETIMES.refreshIdle,
        rotated:
          token.rotatedAt === null
            ? null
            : { secondsAgo: world.now - token.rotatedAt, successorUsed: successor?.rotatedAt !== null },
      },
      grantOf(world),
      { clientId, resource: RESOURCE },
    )
    if (decision.kind === 'rotate') {
      ok(token.rotatedAt === null, 'a token rotates once')
      ok(world.now - token.createdAt < LIFETIMES.refreshIdle, 'no token outlives its lifetime')
      issue(world, clientId)
      token.rotatedAt = world.now
      token.successor = world.tokens.length
      world.tokens.push({ createdAt: world.now, rotatedAt: null, successor: null })
    } else if (decision.kind === 'same-successor') {
      ok(world.now - (token.rotatedAt ?? 0) <= LIFETIMES.lostAnswer, 'a lost answer is repeated for a short time')
      ok(successor?.rotatedAt === null, 'a successor that was used is not given again')
      issue(world, clientId)
    } else if (decision.consequence !== 'nothing') {
      ok(clientId === ME, 'another client ends no grant')
      world.revokedAt ??= world.now
    }
  },
}

type StepUpTarget = (world: World) => void
const RIGHT = { clientId: ME, verifierMatches: true }
const who = fc.constantFrom(
  RIGHT,
  RIGHT,
  { ...RIGHT, verifierMatches: false },
  { ...RIGHT, verifierMatches: false },
  { ...RIGHT, verifierMatches: false },
  { ...RIGHT, clientId: 'client-2' },
)
const minutes = fc.constantFrom(1, 30, 59, 60, 61, 299, 300)
const { refreshIdle, refreshAbsolute } = LIFETIMES
const months = fc.constantFrom(86_400, refreshIdle - 1, refreshIdle - 1, refreshIdle, refreshAbsolute)
const wait =
  (seconds: number): StepUpTarget =>
  world => {
    world.now += seconds
  }
/** A client that comes back just in time, which a grant outlives only so often. */
const faithfulMonth: StepUpTarget = world => {
  world.now += refreshIdle - 1
  steps.refresh(world, 0, ME)
}
// What ends a story is rare, or no story would get far enough for the later rules to matter.
const step = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom<StepUpTarget>(steps.approve, steps.join) },
  { weight: 1, arbitrary: fc.constantFrom<StepUpTarget>(steps.deny, steps.revoke, steps.leave, steps.unlist) },
  {
    weight: 6,
    arbitrary: who.map(
      (caller): StepUpTarget =>
        world =>
          steps.redeem(world, caller),
    ),
  },
  {
    weight: 10,
    arbitrary: fc.tuple(fc.constantFrom(0, 0, 0, 0, 0, 1, 1, 2), fc.constantFrom(ME, ME, ME, ME, 'client-2')).map(
      ([age, id]): StepUpTarget =>
        world =>
          steps.refresh(world, age, id),
    ),
  },
  { weight: 4, arbitrary: minutes.map(wait) },
  { weight: 1, arbitrary: months.map(wait) },
  { weight: 2, arbitrary: fc.constant(faithfulMonth) },
)
const redeemed: readonly StepUpTarget[] = [steps.approve, world => steps.redeem(world, RIGHT)]
const opening = fc.constantFrom<readonly StepUpTarget[]>([], [steps.approve], redeemed)
const story = fc
  .tuple(opening, fc.array(step, { maxLength: 40, size: 'max' }))
  .map(([first, rest]): readonly StepUpTarget[] => [...first, ...rest])

test('in any order: a code redeems at most once, nothing is issued after the end, and no two live tokens stand side by side', () => {
  fc.assert(
    fc.property(story, order => {
      const world = fresh()
      for (const act of order) {
        act(world)
        const { redemptions, status, issued, tokens, revokedAt } = world
        ok(redemptions <= 1, 'a code redeems at most once')
        ok(status === 'APPROVED' || issued.length === 0, 'nothing is issued without consent')
        ok(tokens.filter(token => token.rotatedAt === null).length <= 1, 'no two live tokens stand side by side')
        ok(revokedAt === null || issued.every(at => at <= revokedAt), 'nothing is issued after the end')
      }
    }),
    { numRuns: 3_000 },
  )
})

const GRANT: StoredGrant = { clientId: ME, resource: RESOURCE, revoked: false, expired: false, reachesSomething: true }
const CODE = {
  redirectUri: 'http://localhost:1/cb',
  redirectUriGiven: true,
  isStillListed: true,
  expired: false,
  used: false,
  wrongTries: 0,
}
const ASKED = { clientId: ME, redirectUri: CODE.redirectUri, resource: RESOURCE, verifierMatches: true }

test('a code: who knows all of it, once', () => {
  expect(decideCode(CODE, GRANT, ASKED)).toEqual({ kind: 'issue' })
  const refused = (consequence: string) =>
    expect.objectContaining({ kind: 'refuse', error: 'invalid_grant', consequence })
  expect(decideCode({ ...CODE, used: true }, GRANT, ASKED)).toEqual(refused('revoke-grant'))
  expect(decideCode({ ...CODE, used: true }, GRANT, { ...ASKED, verifierMatches: false })).toEqual(refused('nothing'))
  expect(decideCode(CODE, GRANT, { ...ASKED, verifierMatches: false })).toEqual(refused('count-try'))
  expect(decideCode({ ...CODE, wrongTries: WRONG_VERIFIERS_MAX }, GRANT, ASKED)).toEqual(refused('nothing'))
  expect(decideCode(CODE, GRANT, { ...ASKED, redirectUri: 'http://localhost:2/cb' })).toEqual(refused('nothing'))
  expect(decideCode(CODE, GRANT, { ...ASKED, redirectUri: undefined })).toEqual(refused('nothing'))
  expect(decideCode({ ...CODE, redirectUriGiven: false }, GRANT, { ...ASKED, redirectUri: undefined })).toEqual({
    kind: 'issue',
  })
  expect(decideCode({ ...CODE, expired: true }, GRANT, ASKED)).toEqual(refused('nothing'))
  expect(decideCode({ ...CODE, isStillListed: false }, GRANT, ASKED)).toEqual(refused('nothing'))
  expect(decideCode({ ...CODE, isStillListed: false, used: true }, GRANT, ASKED)).toEqual(refused('revoke-grant'))
  expect(decideCode(CODE, { ...GRANT, revoked: true }, ASKED)).toEqual(refused('nothing'))
  expect(decideCode(CODE, { ...GRANT, reachesSomething: false }, ASKED)).toEqual(refused('nothing'))
})

test('a refresh token: rotated once, the same successor for a lost answer, the end for a stolen one', () => {
  const asked = { clientId: ME, resource: RESOURCE }
  const live = { expired: false, rotated: null }
  expect(decideRefresh(live, GRANT, asked)).toEqual({ kind: 'rotate' })
  expect(decideRefresh({ expired: false, rotated: { secondsAgo: 60, successorUsed: false } }, GRANT, asked)).toEqual({
    kind: 'same-successor',
  })
  const reused = expect.objectContaining({ error: 'invalid_grant', consequence: 'revoke-reused' })
  expect(decideRefresh({ expired: false, rotated: { secondsAgo: 61, successorUsed: false } }, GRANT, asked)).toEqual(
    reused,
  )
  expect(decideRefresh({ expired: false, rotated: { secondsAgo: 1, successorUsed: true } }, GRANT, asked)).toEqual(
    reused,
  )
  const nothing = expect.objectContaining({ error: 'invalid_grant', consequence: 'nothing' })
  expect(decideRefresh({ expired: true, rotated: null }, GRANT, asked)).toEqual(nothing)
  expect(decideRefresh(live, { ...GRANT, revoked: true }, asked)).toEqual(nothing)
  expect(decideRefresh(live, GRANT, { ...asked, clientId: 'client-2' })).toEqual(nothing)
  expect(decideRefresh(live, { ...GRANT, reachesSomething: false }, asked)).toEqual(
    expect.objectContaining({ consequence: 'revoke-empty' }),
  )
})
