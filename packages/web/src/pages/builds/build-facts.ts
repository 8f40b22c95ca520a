// What lists and the page of a build say alike.
import type { Schemas } from '../../api/operations.ts'
import type { StateDetail } from '../../parts/state-badge/states.ts'

type Build = Schemas['Build']

export const detailOf = ({
  blocked,
  failing_at: failingAt,
}: Pick<Build, 'blocked' | 'failing_at'>): StateDetail => ({ blocked, failing: failingAt !== null })

/** Who wrote the change, or else who made the build. A program makes the builds of many people. */
export const personOf = ({ author, creator }: Pick<Build, 'author' | 'creator'>): string | null =>
  author?.name || creator?.name || null

/** Who made the build, where somebody else wrote the change. */
export function makerOf({ author, creator }: Pick<Build, 'author' | 'creator'>): string | null {
  const name = creator?.name || null
  return author?.name && name !== author.name ? name : null
}
