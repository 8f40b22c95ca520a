// Following the end of a growing log. Any upward move stops it; arriving at the end, or asking for it, resumes it. While it
// is stopped, the rows that come are counted.

export interface Follow {
  isFollowing: boolean
  /** Rows of the log when following stopped. */
  seen: number
}

export const following: Follow = { isFollowing: true, seen: 0 }

export const stopped = (total: number): Follow => ({ isFollowing: false, seen: total })

interface Movement {
  /** Pixels, upwards when negative. */
  by: number
  isAtEnd: boolean
  total: number
}

export function moved(follow: Follow, { by, isAtEnd, total }: Movement): Follow {
  if (by < 0) return follow.isFollowing ? stopped(total) : follow
  if (by > 0 && isAtEnd) return following
  return follow
}

export const newRows = ({ isFollowing, seen }: Follow, total: number): number =>
  isFollowing ? 0 : Math.max(0, total - seen)
