// The kinds of settings. A setting is one environment variable; it is declared once, with its default and the text of the
// documentation (`npm run settings` writes the tables). A variable that is empty counts as absent.
import { readRanges } from '../lib/ip-ranges.ts'

export interface Setting<T> {
  /** The value where the variable is absent. */
  readonly absent: T
  /** The default as the documentation shows it. */
  readonly shown: string
  readonly description: string
  /** Throws Refused. */
  parse(given: string): T
}

type Settings = Readonly<Record<string, Setting<unknown>>>

/** The settings of one subject. */
export interface Subject<S extends Settings = Settings> {
  readonly title: string
  /** The beginning of the names of its variables. */
  readonly prefix: string
  readonly settings: S
}

type Values<S extends Settings> = { readonly [Name in keyof S]: ReturnType<S[Name]['parse']> }

export const subject = <S extends Settings>(title: string, settings: S, prefix = ''): Subject<S> => ({
  title,
  prefix,
  settings,
})

/** What is wrong with a value, as a phrase after the variable's name. */
export class Refused extends Error {}

/** Reads variables, and collects all that is wrong with them. */
export class Reader {
  readonly problems: string[] = []
  private readonly env: Readonly<Record<string, string | undefined>>

  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.env = env
  }

  read<S extends Settings>({ prefix, settings }: Subject<S>): Values<S> {
    const entries = Object.entries(settings)
    return Object.fromEntries(
      entries.map(([name, setting]) => [name, this.readOne(`${prefix}${name}`, setting)]),
    ) as Values<S>
  }

  /** Two settings that mean nothing without each other. */
  requireBoth(
    first: readonly [name: string, value: unknown],
    second: readonly [name: string, value: unknown],
  ) {
    if (!first[1] !== !second[1])
      this.problems.push(`${first[0]} and ${second[0]} belong together: set both or none.`)
  }

  private readOne<T>(name: string, { absent, parse }: Setting<T>): T {
    const given = this.env[name]?.trim()
    if (!given) return absent
    try {
      return parse(given)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      this.problems.push(`${name} ${error.message}`)
      return absent
    }
  }
}

interface TextOptions {
  /** The default in words, where it depends on something. */
  shown?: string
  /** What the value must be, and whether it is that. */
  must?: readonly [phrase: string, holds: RegExp | ((value: string) => boolean)]
  /** The value appears in no message. */
  isSecret?: true
}

export const text = <Absent extends string | null | undefined>(
  absent: Absent,
  description: string,
  { shown, must, isSecret }: TextOptions = {},
): Setting<string | Absent> => ({
  absent,
  shown: shown ?? (absent ? `\`${absent}\`` : 'none'),
  description,
  parse(given) {
    if (must === undefined) return given
    const [phrase, condition] = must
    const holds = condition instanceof RegExp ? condition.test(given) : condition(given)
    if (!holds) throw new Refused(isSecret ? `must ${phrase}.` : `must ${phrase}, not "${given}".`)
    return given
  },
})

/** Without slashes at its end. */
export const httpUrl = <Absent extends string | null>(
  absent: Absent,
  description: string,
  shown?: string,
): Setting<string | Absent> => addressOf(absent, description, mustBeHttp, shown)

/** Secrets are sent to it, so it must use TLS or be on this machine. */
export const safeUrl = (absent: string, description: string): Setting<string> =>
  addressOf(absent, description, ['be an https address (or http on this machine)', isSafeUrl])

function addressOf<Absent extends string | null>(
  absent: Absent,
  description: string,
  must: NonNullable<TextOptions['must']>,
  shown?: string,
): Setting<string | Absent> {
  const plain = text(absent, description, { must, ...(shown === undefined ? {} : { shown }) })
  return { ...plain, parse: (given) => plain.parse(given.replace(/\/+$/, '')) }
}

export const isHttpUrl = (value: string): boolean => URL.canParse(value) && /^https?:/.test(value)

const mustBeHttp = ['be an http or https address', isHttpUrl] as const

function isSafeUrl(value: string): boolean {
  if (!URL.canParse(value)) return false
  const { protocol, hostname } = new URL(value)
  const isLocal = /^(127(\.\d+){3}|localhost|\[::1\])$/.test(hostname)
  return value.startsWith('https:') || (protocol === 'http:' && isLocal)
}

export const postgresUrl = (description: string, shown: string): Setting<string | null> =>
  text(null, description, {
    shown,
    must: ['begin with postgres:// or postgresql://', /^postgres(ql)?:/],
    isSecret: true,
  })

/** The value of a token that is given to others. */
export const token = (description: string, least: number, shown = 'none'): Setting<string | undefined> =>
  text(undefined, description, {
    shown,
    must: [
      `be ${least} to 255 printable characters without spaces`,
      new RegExp(`^[\\x21-\\x7e]{${least},255}$`),
    ],
    isSecret: true,
  })

interface Bounds<Absent> {
  absent: Absent
  from: number
  to: number
  shown?: string
}

export const integer = <Absent extends number | null>(
  { absent, from, to, shown = String(absent) }: Bounds<Absent>,
  description: string,
): Setting<number | Absent> => ({
  absent,
  shown,
  description,
  parse(given) {
    const value = Number(given)
    if (Number.isInteger(value) && value >= from && value <= to) return value
    throw new Refused(`must be a whole number from ${from} to ${to}, not "${given}".`)
  },
})

export const flag = (absent: 'on' | 'off', description: string): Setting<boolean> => ({
  absent: absent === 'on',
  shown: `\`${absent}\``,
  description,
  parse: parseFlag,
})

export function parseFlag(given: string): boolean {
  const value = given.toLowerCase()
  if (['on', 'true', '1'].includes(value)) return true
  if (['off', 'false', '0'].includes(value)) return false
  throw new Refused(`must be on or off, not "${value}".`)
}

/** Address ranges, separated by commas or spaces. */
export const ranges = (description: string): Setting<readonly string[]> => ({
  absent: [],
  shown: 'none',
  description,
  parse(given) {
    const listed = given.split(/[\s,]+/).filter(Boolean)
    const read = readRanges(listed.join(' '))
    if (!read.ok) throw new Refused(`has "${read.bad}", which is not an address range.`)
    return listed
  },
})
