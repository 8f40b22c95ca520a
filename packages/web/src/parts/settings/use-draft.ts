import { useState } from 'react'

export interface Draft<Fields> {
  /** What the form shows. */
  fields: Fields
  /** The fields that differ from what is stored. */
  changed: Partial<Fields>
  isChanged: boolean
  set: (change: Partial<Fields>) => void
  discard: () => void
}

/** What somebody has changed in a form. Fields that nobody has touched follow what is stored. */
export function useDraft<Fields extends object>(stored: Fields): Draft<Fields> {
  const [changes, setChanges] = useState<Partial<Fields>>({})
  const changed = changedFields(stored, changes)
  return {
    fields: { ...stored, ...changes },
    changed,
    isChanged: Object.keys(changed).length > 0,
    set: (change) => setChanges((before) => ({ ...before, ...change })),
    discard: () => setChanges({}),
  }
}

export function changedFields<Fields extends object>(
  stored: Fields,
  changes: Partial<Fields>,
): Partial<Fields> {
  const isOther = (name: keyof Fields) => JSON.stringify(changes[name]) !== JSON.stringify(stored[name])
  const names = (Object.keys(changes) as Array<keyof Fields>).filter(isOther)
  const changed: Partial<Fields> = {}
  for (const name of names) {
    const value = changes[name]
    if (value !== undefined) changed[name] = value
  }
  return changed
}
