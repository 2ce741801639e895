// What a decision of one reviewer makes of a request, by its strategy (semantics 7). Pure.
import { assertNever } from '../../../../shared/errors.ts'
import type { Reviewer, Strategy } from '../schema.ts'

export type Decision = 'APPROVED' | 'DECLINED'
export type Reviewed = { readonly strategy: Strategy; readonly reviewers: readonly Reviewer[] }
type Given = { readonly userId: string; readonly decision: Decision; readonly at: string }

/** `status`: PENDING_REVIEW while others have to decide too. `notAsked`: the user is no reviewer of it. */
export type Decided =
  | { readonly reviewers: readonly Reviewer[]; readonly status: Decision | 'PENDING_REVIEW' }
  | { readonly refused: string; readonly notAsked?: true }

/** The reviewers and the status after a decision, or why the user cannot take it. A request that is decided comes not here. */
export function decide(request: Reviewed, { userId, decision, at }: Given): Decided {
  const own = request.reviewers.find(({ id }) => id === userId)
  if (!own)
    return { refused: `The user ${userId} is no reviewer of this request; its reviewers decide.`, notAsked: true }
  if (own.status !== 'PENDING_REVIEW')
    return { refused: `You have ${own.status} it already; each reviewer decides once.` }
  const refused = outOfTurn(request, own, decision)
  if (refused !== null) return { refused }
  const reviewers = request.reviewers.map(each =>
    each.id === userId ? { ...each, status: decision, reviewed_at: at } : each,
  )
  // Any decline ends it, whatever the others think.
  if (decision === 'DECLINED') return { reviewers, status: 'DECLINED' }
  return { reviewers, status: isApproved({ ...request, reviewers }) ? 'APPROVED' : 'PENDING_REVIEW' }
}

const levelOf = ({ level }: Reviewer): number => level ?? 1
const hasApproved = ({ status }: Reviewer): boolean => status === 'APPROVED'
const levelsOf = (reviewers: readonly Reviewer[]): number[] =>
  [...new Set(reviewers.map(levelOf))].sort((a, b) => a - b)

/** Why it is not this reviewer's turn, or not any more. */
function outOfTurn({ strategy, reviewers }: Reviewed, own: Reviewer, decision: Decision): string | null {
  const level = levelOf(own)
  const approved = new Set(reviewers.filter(hasApproved).map(levelOf))
  switch (strategy) {
    case 'EVERYONE_HAS_TO_APPROVE':
    case 'ANYONE_CAN_DECIDE':
      return null
    case 'ALL_LEVELS_MUST_APPROVE': {
      if (decision === 'DECLINED') return null
      const before = levelsOf(reviewers).find(each => each < level && !approved.has(each))
      if (before !== undefined) return `Level ${before} decides first; approve it once that level has.`
      return approved.has(level) ? `Level ${level} has approved it already; the next level decides.` : null
    }
    case 'HIGHER_LEVEL_CAN_OVERRIDE': {
      const higher = [...approved].find(each => each > level)
      if (higher !== undefined) return `Level ${higher} has approved it, which settles it for the levels below.`
      const isAgain = decision === 'APPROVED' && approved.has(level)
      return isAgain ? `Level ${level} has approved it already; the next level decides.` : null
    }
    default:
      return assertNever(strategy)
  }
}

function isApproved({ strategy, reviewers }: Reviewed): boolean {
  const approvedLevels = new Set(reviewers.filter(hasApproved).map(levelOf))
  switch (strategy) {
    case 'EVERYONE_HAS_TO_APPROVE':
      return reviewers.every(hasApproved)
    case 'ANYONE_CAN_DECIDE':
      return reviewers.some(hasApproved)
    case 'ALL_LEVELS_MUST_APPROVE':
      return levelsOf(reviewers).every(level => approvedLevels.has(level))
    case 'HIGHER_LEVEL_CAN_OVERRIDE':
      return approvedLevels.has(levelsOf(reviewers).at(-1) ?? 1)
    default:
      return assertNever(strategy)
  }
}
