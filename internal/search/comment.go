package search

import "time"

// Comment tells whose comment on a ticket a text is.
type Comment struct {
	CommentID int64     `json:"comment_id"`
	Author    *string   `json:"author"` // nil where the tracker names none
	CreatedAt time.Time `json:"created_at"`
}

// CommentColumns are what a row of a searching or retrieving function tells of the comment that its
// text is of.
type CommentColumns struct {
	CommentID        *int64    `json:"comment_id"`
	CommentAuthor    *string   `json:"comment_author"`
	CommentCreatedAt time.Time `json:"comment_created_at"`
}

// Comment is nil where the text is none.
func (c CommentColumns) Comment() *Comment {
	if c.CommentID == nil {
		return nil
	}
	return &Comment{CommentID: *c.CommentID, Author: c.CommentAuthor, CreatedAt: c.CommentCreatedAt}
}
