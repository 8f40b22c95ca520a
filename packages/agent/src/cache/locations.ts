// Where the cached paths of a step are. Relative paths stay in the checkout: neither `..` nor a link leads out of it.
// Absolute paths and `~` may name any location except one that contains the checkout.

import { lstatSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'

export interface CacheLocation {
  /** As the step writes it. */
  path: string
  location: string
}

interface Surroundings {
  checkoutPath: string
  home: string
}

interface LeftOut {
  path: string
  reason: string
}

export function findLocations(
  paths: readonly string[],
  surroundings: Surroundings,
): { locations: CacheLocation[]; leftOut: LeftOut[] } {
  const locations: CacheLocation[] = []
  const leftOut: LeftOut[] = []
  // An outer path comes first, whatever the order in the step.
  const all = [...new Set(paths)].map((path) => ({ path, location: locate(path, surroundings) }))
  for (const { path, location } of all.sort((one, other) => one.location.length - other.location.length)) {
    const outer = locations.find((other) => isBelow(location, other.location))
    const reason =
      outer === undefined
        ? problemOf(path, location, surroundings)
        : `is a part of ${outer.path}, cached with it`
    if (reason === null) locations.push({ path, location })
    else leftOut.push({ path, reason })
  }
  return { locations, leftOut }
}

function locate(path: string, { checkoutPath, home }: Surroundings): string {
  return resolve(
    checkoutPath,
    path.replace(/^~(?=\/|$)/, () => home),
  )
}

function problemOf(path: string, location: string, { checkoutPath }: Surroundings): string | null {
  if (isBelow(checkoutPath, location)) return 'holds more than a cache, left out'
  const isInside = isBelow(location, checkoutPath)
  if (!isInside && !isAbsolute(path) && !/^~(\/|$)/.test(path)) {
    return 'leads out of the checkout, left out; an absolute path can be cached'
  }
  if (isInside && !isBelow(realFolder(dirname(location)), realFolder(checkoutPath))) {
    return 'leads out of the checkout by a link, left out'
  }
  return lstatSync(location, { throwIfNoEntry: false })?.isSymbolicLink() === true
    ? 'is a link, left out'
    : null
}

/** Whether they are the same, or the first is in the second. */
const isBelow = (location: string, folder: string) => {
  const way = relative(folder, location)
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
