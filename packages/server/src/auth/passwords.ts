// Passwords are stored as argon2id hashes. The library works in libuv's threads.
import { hash, verify } from '@node-rs/argon2'

const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

export const shortestPassword = 8
const longestPassword = 500

/** Null: the password may be used. */
export function passwordProblem(password: string): string | null {
  if (password.length < shortestPassword)
    return `The password must have at least ${shortestPassword} characters.`
  return password.length > longestPassword
    ? `The password must have at most ${longestPassword} characters.`
    : null
}

export const hashPassword = (password: string): Promise<string> => hash(password, cost)

/** The hash of a random text, with the same cost as all others. */
const nobodys =
  '$argon2id$v=19$m=19456,t=2,p=1$7TIkwFTkD+FCmls+aL0lkA$AJg882j4SfmPDdoparjpTXcWiuG+pktfkIqUkoMXxVI'

/** Verifying the result takes the same work for every address, so the time tells nobody which addresses are known. */
export const hashToVerify = (stored: string | null): string => stored ?? nobodys

export async function isPassword(stored: string | null, given: string): Promise<boolean> {
  const matches = await verify(hashToVerify(stored), given)
  return stored !== null && matches
}
