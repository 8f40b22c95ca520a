// Where the cached paths of a step are. Relative paths stay in the checkout: neither `..` nor a link leads out of it.
// Absolute paths and `~` may name any place but one that contains the checkout.

import { lstatSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'

export interface CachePlace {
  /** As the step writes it. */
  path: string
  place: string
}

interface Surroundings {
  checkoutPath: string
  home: string
}

interface LeftOut {
  path: string
  reason: string
}

export function findPlaces(
  paths: readonly string[],
  surroundings: Surroundings,
): { places: CachePlace[]; leftOut: LeftOut[] } {
  const places: CachePlace[] = []
  const leftOut: LeftOut[] = []
  // An outer path comes first, whatever the order in the step.
  const all = [...new Set(paths)].map((path) => ({ path, place: placeOf(path, surroundings) }))
  for (const { path, place } of all.sort((one, other) => one.place.length - other.place.length)) {
    const outer = places.find((other) => isBelow(place, other.place))
    const reason =
      outer === undefined
        ? problemOf(path, place, surroundings)
        : `is a part of ${outer.path}, cached with it`
    if (reason === null) places.push({ path, place })
    else leftOut.push({ path, reason })
  }
  return { places, leftOut }
}

function placeOf(path: string, { checkoutPath, home }: Surroundings): string {
  return resolve(
    checkoutPath,
    path.replace(/^~(?=\/|$)/, () => home),
  )
}

function problemOf(path: string, place: string, { checkoutPath }: Surroundings): string | null {
  if (isBelow(checkoutPath, place)) return 'holds more than a cache, left out'
  const isInside = isBelow(place, checkoutPath)
  if (!isInside && !isAbsolute(path) && !/^~(\/|$)/.test(path)) {
    return 'leads out of the checkout, left out; an absolute path can be cached'
  }
  if (isInside && !isBelow(realFolder(dirname(place)), realFolder(checkoutPath))) {
    return 'leads out of the checkout by a link, left out'
  }
  return lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true ? 'is a link, left out' : null
}

/** Whether they are the same, or the first is in the second. */
const isBelow = (place: string, folder: string) => {
  const way = relative(folder, place)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`))
}

/** The folder without links. Folders that do not exist yet are made as plain ones. */
function realFolder(folder: string): string {
  for (let known = folder; ; known = dirname(known)) {
    if (lstatSync(known, { throwIfNoEntry: false }) === undefined) continue
    try {
      return resolve(realpathSync(known), relative(known, folder))
    } catch {
      // A link without a target: writing through it would make a file elsewhere.
      return sep
    }
  }
}
