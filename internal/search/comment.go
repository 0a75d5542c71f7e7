package search

import "time"

// Comment is the author and time of a comment on a ticket.
type Comment struct {
	_ struct{} `schema:"Comment" doc:"The comment that the text is from."`

	CommentID int64     `json:"comment_id" min:"1" example:"12"`
	Author    *string   `json:"author" example:"Ada" doc:"As the tracker names people."`
	CreatedAt time.Time `json:"created_at"`
}

// CommentColumns are the columns of a search or retrieval row that describe the comment its text
// comes from.
type CommentColumns struct {
	CommentID        *int64    `json:"comment_id"`
	CommentAuthor    *string   `json:"comment_author"`
	CommentCreatedAt time.Time `json:"comment_created_at"`
}

// Comment returns nil if the text is not a comment.
func (c CommentColumns) Comment() *Comment {
	if c.CommentID == nil {
		return nil
	}
	return &Comment{CommentID: *c.CommentID, Author: c.CommentAuthor, CreatedAt: c.CommentCreatedAt}
}
