import type { Owner } from '../../db/embedded/privileges.ts'

/**
 * The command line that gives up root for good. A change of the user clears the signal that a process gets when its parent dies,
 * so it is set again.
 */
export const asUser = ({ uid, gid }: Owner): string[] =>
  `setpriv --reuid ${uid} --regid ${gid} --clear-groups --no-new-privs --inh-caps -all --bounding-set -all --pdeathsig KILL --`.split(
    ' ',
  )
