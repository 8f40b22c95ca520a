// A step's position is a string that sorts bytewise into display order, so that steps can be put between two
// others without touching either. The steps of a new build are `0001`, `0002` and so on; members of the group
// at `0002` are `0002-0001`, …; steps uploaded behind `0002` are `0002.998.0001`, …. A dash sorts before a
// dot, so a group's members come before steps uploaded behind the group, and the middle number counts
// down with every upload of the build, so a later batch comes before an earlier one.

const HIGHEST_BATCH = 999

export function positionInBuild(index: number): string {
  return padded(index)
}

export function positionInGroup(group: string, index: number): string {
  return `${group}-${padded(index)}`
}

/** `uploads` is the number of uploads the build has taken before this one. */
export function positionBehind(step: string, uploads: number, index: number): string {
  return `${step}.${String(HIGHEST_BATCH - uploads).padStart(3, '0')}.${padded(index)}`
}

function padded(index: number): string {
  return String(index + 1).padStart(4, '0')
}
