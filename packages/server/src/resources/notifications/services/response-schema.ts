// Response schemas, with the settings of each provider as its file declares them.
import { Type, type TSchema } from 'typebox'
import { providersWithOtherSettings } from '../../../notifications/providers/other-names.ts'
import { providers } from '../../../notifications/providers/table.ts'
import type { Provider, Settings } from '../../../notifications/provider.ts'
import { cursorList, described, orNull, text } from '../../schema.ts'
import { serviceFields } from './schema.ts'

function settingsAnswer({ title, fields }: { title: string; fields: Provider['fields'] }): TSchema {
  const shown = Object.entries(fields).filter(([, field]) => field.shown !== 'never')
  const schemaOf = ([key, field]: (typeof shown)[number]): [string, TSchema] => {
    const value = field.shown === 'masked' ? text('All but the end is X.') : field.schema
    const answer = field.isRequired ? value : orNull(value)
    return [key, field.feature === undefined ? answer : Type.Optional(answer)]
  }
  return Type.Object(Object.fromEntries(shown.map(schemaOf)), {
    title: `${title}Settings`,
  })
}

const AnySettings = Type.Unsafe<Settings>({
  anyOf: [
    ...Object.values(providers).map(({ name, fields }) => ({ title: name.replaceAll(' ', ''), fields })),
    ...providersWithOtherSettings,
  ].map(settingsAnswer),
})

export const NotificationService = Type.Object(
  { ...serviceFields, settings: described(AnySettings, 'The settings, by name.') },
  { title: 'NotificationService' },
)

export const NotificationServiceList = cursorList(NotificationService, 'NotificationServiceList')
