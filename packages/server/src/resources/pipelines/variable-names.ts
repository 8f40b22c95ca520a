// The names that variables of a build may have.
import type { FieldError } from '../../lib/errors.ts'

export const badVariableNames = (env: Readonly<Record<string, unknown>>): FieldError[] =>
  Object.keys(env)
    .filter((name) => name === '' || name.includes('=') || name.length > 255)
    .map((name) => ({
      field: `env.${name.slice(0, 60)}`,
      code: 'must have a name of 1 to 255 characters without an equals sign',
    }))
