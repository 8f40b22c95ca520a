import { Type } from 'typebox'
import { fieldKinds } from '../../../notifications/providers/describe-field.ts'
import { boolean, oneOf, orNull, text } from '../../schema.ts'

const ProviderSetting = Type.Object(
  {
    name: text('Name in `settings`.'),
    label: text('What a form calls it.'),
    hint: text('What is to be known about its value.'),
    kind: oneOf(
      fieldKinds,
      'What its value is: a text, one or several lines; a number; true or false; one or several of `choices`; or an object of texts.',
    ),
    choices: Type.Array(Type.String(), { description: 'The values that can be chosen.' }),
    minimum: orNull(Type.Integer({ description: 'The least number.' })),
    maximum: orNull(Type.Integer({ description: 'The greatest number.' })),
    example: orNull(text('A value that would be accepted.')),
    is_required: boolean('Whether there must be a value.'),
    initial: Type.Unknown({
      description: 'The value of a service that is created without one; null when there is none.',
    }),
    is_generated: boolean('Whether a secret is made for a service that is created without one.'),
    is_secret: boolean('Whether it is stored encrypted.'),
    shown: oneOf(
      ['full', 'masked', 'never'],
      'How responses show it. A masked value may be sent back as it is shown.',
    ),
    is_address: boolean(
      'Whether requests are sent there. When it changes, secrets that are not shown in full must be sent again.',
    ),
    is_fixed: boolean('Whether it cannot change once it has a value.'),
  },
  { title: 'NotificationProviderSetting' },
)

export const NotificationProvider = Type.Object(
  {
    id: Type.String({ examples: ['webhook'], description: 'Id of the provider.' }),
    same_as: orNull(text('The provider of which this is another name; null: it is the provider’s own.')),
    name: Type.String(),
    summary: text('What it sends, and where.'),
    is_available: boolean('Whether the organization may create a service of it.'),
    connect_url: orNull(
      text('Where people connect it in the web; null when it is created by the API, or cannot be connected.'),
    ),
    made_by: oneOf(['rest', 'web'], '`web`: it is connected in the web, and not created by the API.'),
    selects_by: oneOf(
      ['events', 'build_states', 'build_states_or_all'],
      'What decides which events are sent: its setting `events`, or `build_states`, of which none may mean all.',
    ),
    sends: boolean('Whether it sends anything; a log is read instead.'),
    settings: Type.Array(ProviderSetting, { description: 'Its settings, in the order of a form.' }),
  },
  { title: 'NotificationProvider' },
)
