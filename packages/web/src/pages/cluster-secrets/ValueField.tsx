import { TextArea } from '../../parts/Field.tsx'

interface Props {
  label: string
  value: string
  onValue: (value: string) => void
}

/** A value of several lines, such as a key of SSH. It is shown while it is typed, and never again. */
export const ValueField = (props: Props) => (
  <TextArea
    {...props}
    required
    rows={4}
    autoComplete="off"
    spellCheck={false}
    hint="Of less than 8 KiB. It may have several lines. It is not shown again."
  />
)
