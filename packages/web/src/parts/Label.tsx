// Text of users in which `:tada:` stands for an emoji, as in labels and messages.
import { useState } from 'react'
import { splitEmoji } from './emoji.ts'
import styles from './Label.module.css'

export const Label = ({ text }: { text: string }) => (
  <>
    {splitEmoji(text).map((part, index) =>
      typeof part === 'string' ? (
        part
      ) : (
        // The parts of a text do not move.
        // oxlint-disable-next-line react/no-array-index-key
        <Emoji key={index} name={part.emoji} />
      ),
    )}
  </>
)

/** A name that the server does not know stays text. */
function Emoji({ name }: { name: string }) {
  const [isUnknown, setUnknown] = useState(false)
  if (isUnknown) return `:${name}:`
  return (
    <img
      src={`/emojis/${encodeURIComponent(name)}.svg`}
      alt={`:${name}:`}
      title={`:${name}:`}
      className={styles.emoji}
      onError={() => setUnknown(true)}
    />
  )
}
