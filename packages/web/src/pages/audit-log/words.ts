/** `OrganizationMemberUpdatedEvent` reads as "Organization member updated". */
export function eventWords(type: string): string {
  const words = type.replace(/Event$/, '').replaceAll(/([a-z])([A-Z])/g, '$1 $2')
  return (words.charAt(0) + words.slice(1).toLowerCase()).replaceAll(/\b(api|sso) /gi, (name) =>
    name.toUpperCase(),
  )
}

/** A value of an event's data, on one line. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'none'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

interface Change {
  name: string
  /** Undefined where it is not known. */
  before: unknown
  after: unknown
}

/** The event of an update has in `previous` what its other attributes were. */
export function changesOf({ previous, ...after }: Record<string, unknown>): Change[] {
  const before = new Map(Object.entries(previous ?? {}))
  return Object.entries(after).map(([name, value]) => ({ name, before: before.get(name), after: value }))
}
